"""Orgs, teams, people, keys and the audit trail, and the org that always exists."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def make_default_org(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Add the org `default`, so that a fresh server has somewhere to remember."""
    apps.get_model("accounts", "Org")._default_manager.get_or_create(
        name="default", defaults={"created_at": 0}
    )


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='AuditRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.BigIntegerField(db_index=True)),
                ('actor', models.CharField(max_length=210)),
                ('action', models.CharField(max_length=40)),
                ('target', models.CharField(db_index=True, max_length=210)),
                ('detail', models.JSONField(default=dict)),
            ],
            options={
                'ordering': ('-id',),
            },
        ),
        migrations.CreateModel(
            name='Org',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=63, unique=True)),
                ('created_at', models.BigIntegerField()),
            ],
            options={
                'ordering': ('name',),
            },
        ),
        migrations.CreateModel(
            name='Person',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('username', models.CharField(max_length=200, unique=True)),
                ('display_name', models.CharField(blank=True, max_length=200)),
                ('email', models.EmailField(blank=True, max_length=254)),
                ('time_zone', models.CharField(default='UTC', max_length=64)),
                ('is_staff', models.BooleanField(default=False)),
                ('is_active', models.BooleanField(default=True)),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
                ('org', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='people', to='accounts.org')),
            ],
            options={
                'verbose_name_plural': 'people',
            },
        ),
        migrations.CreateModel(
            name='Team',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=63)),
                ('created_at', models.BigIntegerField()),
                ('org', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='teams', to='accounts.org')),
            ],
            options={
                'ordering': ('org__name', 'name'),
            },
        ),
        migrations.CreateModel(
            name='ApiKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(max_length=8, unique=True)),
                ('digest', models.BinaryField(max_length=32)),
                ('role', models.CharField(choices=[('reader', 'reader'), ('ingest', 'ingest'), ('recorder', 'recorder'), ('service', 'service'), ('personal', 'personal'), ('admin', 'admin')], max_length=16)),
                ('groups', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), blank=True, default=list, size=None)),
                ('roles', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), blank=True, default=list, size=None)),
                ('default_acl', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), blank=True, null=True, size=None)),
                ('toolset', models.CharField(default='ampup', max_length=16)),
                ('label', models.CharField(blank=True, max_length=100)),
                ('created_by', models.CharField(max_length=210)),
                ('created_at', models.BigIntegerField()),
                ('expires_at', models.BigIntegerField(blank=True, null=True)),
                ('revoked_at', models.BigIntegerField(blank=True, null=True)),
                ('last_used_at', models.BigIntegerField(blank=True, null=True)),
                ('person', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='keys', to=settings.AUTH_USER_MODEL)),
                ('org', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='keys', to='accounts.org')),
                ('team', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='keys', to='accounts.team')),
            ],
            options={
                'verbose_name': 'API key',
                'ordering': ('-id',),
            },
        ),
        migrations.AddConstraint(
            model_name='team',
            constraint=models.UniqueConstraint(fields=('org', 'name'), name='accounts_team_of_an_org'),
        ),
        migrations.AddConstraint(
            model_name='apikey',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('person__isnull', False), ('role', 'personal')), models.Q(models.Q(('role', 'personal'), _negated=True), ('person__isnull', True)), _connector='OR'), name='accounts_key_personal_has_person'),
        ),
        migrations.AddConstraint(
            model_name='apikey',
            constraint=models.CheckConstraint(condition=models.Q(('team__isnull', True), ('org__isnull', False), _connector='OR'), name='accounts_key_team_has_org'),
        ),
        migrations.AddConstraint(
            model_name='apikey',
            constraint=models.CheckConstraint(condition=models.Q(('expires_at__isnull', True), ('expires_at__gt', models.F('created_at')), _connector='OR'), name='accounts_key_expires_after_made'),
        ),
        migrations.RunPython(make_default_org, migrations.RunPython.noop),
    ]
