from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='JobLease',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('job', models.CharField(max_length=64)),
                ('scope', models.CharField(max_length=160)),
                ('holder', models.CharField(max_length=64)),
                ('heartbeat_at', models.BigIntegerField()),
                ('expires_at', models.BigIntegerField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('job', 'scope'), name='memory_lease_one_holder')],
            },
        ),
        migrations.CreateModel(
            name='JobRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('job', models.CharField(max_length=64, unique=True)),
                ('kind', models.CharField(choices=[('load', 'load'), ('compact', 'compact')], max_length=16)),
                ('namespace', models.CharField(max_length=160)),
                ('author', models.CharField(max_length=210)),
                ('org', models.CharField(blank=True, max_length=63)),
                ('caller', models.JSONField(default=dict)),
                ('scope', models.CharField(max_length=320)),
                ('state', models.CharField(choices=[('queued', 'queued'), ('running', 'running'), ('done', 'done'), ('failed', 'failed'), ('lost', 'lost')], max_length=8)),
                ('attempts', models.IntegerField(default=0)),
                ('done', models.IntegerField(default=0)),
                ('total', models.IntegerField(default=0)),
                ('commits', models.JSONField(default=list)),
                ('refused', models.JSONField(default=list)),
                ('options', models.JSONField(default=dict)),
                ('watermark', models.JSONField(default=dict)),
                ('error_code', models.CharField(blank=True, max_length=64)),
                ('error', models.TextField(blank=True)),
                ('payload', models.CharField(blank=True, max_length=128)),
                ('queued_at', models.BigIntegerField()),
                ('started_at', models.BigIntegerField(blank=True, null=True)),
                ('heartbeat_at', models.BigIntegerField()),
                ('ended_at', models.BigIntegerField(blank=True, null=True)),
            ],
            options={
                'ordering': ('-id',),
                'indexes': [models.Index(fields=['state', 'heartbeat_at'], name='memory_job_open'), models.Index(fields=['kind', 'ended_at'], name='memory_job_kind')],
            },
        ),
    ]
