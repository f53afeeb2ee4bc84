import { useState } from 'react'
import { useLocation } from 'wouter'
import { useForm } from '../../lib/use-form.ts'
import { useInstanceSession } from '../../api/instance.ts'
import { useLatestDeployment } from '../../api/deployments.ts'
import { useProjectSettings, useUpdateProjectSettings } from '../../api/project-settings.ts'
import { useClearBuildCache, useDeleteProject, useDeployProject, useProject, useUpdateProject } from '../../api/projects.ts'
import { limits } from '../../../server/contract/limits.ts'
import { isClusterRuntime } from '../../../server/contract/runtimes.ts'
import type { Project } from '../../../server/contract/projects.ts'
import type { ProjectSettings } from '../../../server/contract/project-settings.ts'
import type { CallOutput } from '../../../server/client/operation-types.ts'
import { useUi } from '../../stores/ui.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmByNameDialog } from '../../components/dialog.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { LinesField, SwitchField, TextField } from '../../components/field.tsx'
import { frameworkName } from '../../lib/frameworks.ts'
import { useTitle } from '../../lib/use-title.ts'
import { WatchPathsField } from './watch-paths-field.tsx'
import { DeployHooksSection } from './deploy-hooks.tsx'
import { RegistriesSection } from './registries.tsx'
import { CpuField } from './cpu-field.tsx'
import { ReplicasFields } from './replicas-fields.tsx'
import styles from './page.module.css'

export default function SettingsPage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  const { data: more, isError } = useProjectSettings(slug)
  useTitle(`Settings · ${project?.name ?? slug}`)
  if (!project || (more === undefined && !isError)) return <SkeletonRows rows={6} height={72} />
  return <ProjectSettingsForm project={project} more={more ?? null} />
}

// An empty field means automatic detection; the value “auto” is never typed.
const autoDetect = 'auto'
// These take effect when they are saved.
const immediateSettings = ['name', 'caching_enabled', 'always_warm', 'watch_paths', 'replicas', 'autoscaling', 'sticky_sessions']
const detectable = ['node_version', 'install_command', 'build_command'] as const

function ProjectSettingsForm({ project, more }: { project: Project; more: CallOutput<'getProjectSettings'> | null }) {
  const { data: latest } = useLatestDeployment(project.slug)
  const showToast = useUi((state) => state.showToast)
  const isCluster = isClusterRuntime(useInstanceSession().data?.instance.runtime.name)
  const [saved, setSaved] = useState(false)
  const updateProject = useUpdateProject({ hidesErrorToast: true })
  const updateSettings = useUpdateProjectSettings({ hidesErrorToast: true })
  const save = async () => {
    const params = { slug: project.slug }
    const {
      health_path,
      health_timeout_s,
      cpu_limit,
      watch_paths,
      public_ports,
      apps,
      preview_volumes,
      tracing,
      replicas,
      autoscaling,
      sticky_sessions,
      node_labels,
      ...body
    } = form.changes
    const watchPaths = watch_paths === undefined ? undefined : toLines(watch_paths)
    const moreChanges = pickDefined({
      health_path,
      health_timeout_s,
      cpu_limit,
      preview_volumes,
      tracing,
      replicas,
      autoscaling,
      sticky_sessions,
      node_labels: node_labels === undefined ? undefined : toWords(node_labels),
      watch_paths: watchPaths,
      public_ports: public_ports === undefined ? undefined : toNumbers(public_ports),
      apps: apps === undefined ? undefined : toLines(apps),
    })
    const updated = Object.keys(body).length > 0 ? (await updateProject.mutateAsync({ params, body })).project : project
    if (Object.keys(moreChanges).length > 0) await updateSettings.mutateAsync({ params, body: moreChanges })
    if (body.memory_limit_mb !== undefined && updated.memory_limit_mb < body.memory_limit_mb) {
      showToast({ kind: 'failed', text: `Memory was set to ${updated.memory_limit_mb} MB, the limit of your plan.`, request_id: null })
    } else showToast({ kind: 'done', text: 'Settings saved.', request_id: null })
    setSaved(Object.keys(form.changes).some((name) => !immediateSettings.includes(name)))
    form.discard()
  }
  const form = useForm({
    initial: { ...editableSettings(project), ...editableMoreSettings(more?.settings ?? noMoreSettings) },
    submission: {
      isPending: updateProject.isPending || updateSettings.isPending,
      error: updateProject.error ?? updateSettings.error,
      reset() {
        updateProject.reset()
        updateSettings.reset()
      },
    },
    // The form shows the error of a failed request.
    onSubmit: () => form.is_dirty && void save().catch(() => undefined),
    fieldOf: ({ code }) => code === 'paid_plan_required' && 'always_warm',
  })
  const { values, is_dirty: isDirty } = form
  const detectedField = (name: (typeof detectable)[number]) => ({
    ...form.text(name, (text) => (text === '' ? autoDetect : text)),
    value: values[name] === autoDetect ? '' : values[name],
    placeholder: latest?.framework ? `Detected (${frameworkName(latest.framework)})` : 'Detected',
    mono: true,
  })

  return (
    <div className={styles.settings}>
      <form className="stack" {...form.props} aria-label="Settings">
        {saved && !isDirty && <RedeployNotice project={project} />}
        <Section title="Project">
          <TextField label="Name" required {...form.text('name')} />
          <TextField label="Slug" mono value={project.slug} disabled readOnly hint="Part of the URL; cannot be changed." />
        </Section>
        <Section title="Source">
          <TextField
            label="Repository"
            mono
            value={values.repo_url ?? ''}
            onChange={({ target }) => form.set({ repo_url: target.value.trim() === '' ? null : target.value.trim() })}
            error={form.error('repo_url')}
            placeholder="None"
            hint="Leave empty to deploy from folders."
          />
          <TextField label="Branch" mono required {...form.text('repo_branch')} hint="Production is built from this branch." />
          <TextField
            label="Root directory"
            mono
            required
            {...form.text('root_directory')}
            hint="The app’s folder in the repository; . is the root."
          />
          {more && (
            <LinesField
              label="Apps"
              value={values.apps}
              onChange={({ target }) => form.set({ apps: target.value })}
              placeholder="One app"
              error={form.error('apps')}
              hint="Folders of apps to deploy together as services, one per line. A configuration file in the repository replaces them."
            />
          )}
          {more && (
            <WatchPathsField
              rootDirectory={values.root_directory}
              value={values.watch_paths}
              onChange={(watch_paths) => form.set({ watch_paths })}
              error={form.error('watch_paths')}
            />
          )}
        </Section>
        <Section title="Build" about="Leave empty to detect from the source. The build log shows what was detected and why.">
          <TextField label="Node version" {...detectedField('node_version')} />
          <TextField label="Install command" {...detectedField('install_command')} />
          <TextField label="Build command" {...detectedField('build_command')} />
        </Section>
        <Section title="Runtime">
          <TextField
            label="Memory (MB)"
            type="number"
            min={limits.memory_mb.min}
            max={limits.memory_mb.max}
            step={64}
            value={Number.isNaN(values.memory_limit_mb) ? '' : values.memory_limit_mb}
            onChange={({ target }) => form.set({ memory_limit_mb: target.valueAsNumber })}
            error={form.error('memory_limit_mb')}
            hint={`${limits.memory_mb.min} to ${limits.memory_mb.max}. An app that exceeds it is stopped.`}
          />
          {more && (
            <CpuField cpus={more.cpus} value={values.cpu_limit} onChange={(cpu_limit) => form.set({ cpu_limit })} error={form.error('cpu_limit')} />
          )}
          {more && (
            <ReplicasFields
              replicas={{ value: values.replicas, onChange: (replicas) => form.set({ replicas }), error: form.error('replicas') }}
              autoscaling={{ value: values.autoscaling, onChange: (autoscaling) => form.set({ autoscaling }), error: form.error('autoscaling') }}
              sticky={form.toggle('sticky_sessions')}
            />
          )}
          {more && isCluster && (
            <TextField
              label="Node labels"
              mono
              {...form.text('node_labels')}
              placeholder="Any node"
              hint="The app runs only on nodes with all of these labels, such as disk=ssd, zone=a."
            />
          )}
          {more && (
            <TextField
              label="Additional ports"
              mono
              {...form.text('public_ports')}
              placeholder="None"
              hint={`HTTP ports in addition to the main one, such as 9090, 9091. Each gets an address: web-9090--${project.slug}.localhost. The app finds the port to listen on in PORT_9090.`}
            />
          )}
          <SwitchField
            label="Always warm"
            hint="Never sleeps. When off, the app sleeps when idle and wakes with the next request."
            {...form.toggle('always_warm')}
          />
          <SwitchField label="Edge cache" hint="Caches responses that the app marks as cacheable." {...form.toggle('caching_enabled')} />
          {more && (
            <SwitchField
              label="Traces"
              hint="Apps that use an OpenTelemetry SDK send their traces to Homeport, unless they set another exporter."
              {...form.toggle('tracing')}
            />
          )}
        </Section>
        {more && (
          <Section title="Health check" about="A new version gets traffic once it responds with a status below 500.">
            <TextField label="Path" mono required {...form.text('health_path')} hint="Requested with GET, such as /healthz." />
            <TextField
              label="Timeout (seconds)"
              type="number"
              required
              min={limits.health_timeout_s.min}
              max={limits.health_timeout_s.max}
              value={Number.isNaN(values.health_timeout_s) ? '' : values.health_timeout_s}
              onChange={({ target }) => form.set({ health_timeout_s: target.valueAsNumber })}
              error={form.error('health_timeout_s')}
              hint={`${limits.health_timeout_s.min} to ${limits.health_timeout_s.max}. A version that needs longer fails, and the previous one stays live. A service in homeport.yaml can have its own.`}
            />
          </Section>
        )}
        {form.problem && <ProblemView problem={form.problem} />}
        <div className={`${styles.saveBar} ${isDirty ? styles.saveBarOn : ''}`} aria-live="polite">
          <span className="text-muted">{isDirty ? 'Unsaved changes' : 'All changes saved'}</span>
          <Button disabled={!isDirty} onClick={form.discard}>
            Discard
          </Button>
          <Button kind="primary" type="submit" disabled={!isDirty} busy={form.is_busy}>
            Save
          </Button>
        </div>
      </form>
      {more && project.is_connected && <DeployHooksSection project={project} />}
      {more && <RegistriesSection slug={project.slug} />}
      {more && <BuildCacheSection slug={project.slug} />}
      <DeleteProjectSection project={project} />
    </div>
  )
}

/** The fields of the form. */
function editableSettings({
  name,
  repo_url,
  repo_branch,
  root_directory,
  node_version,
  install_command,
  build_command,
  memory_limit_mb,
  always_warm,
  caching_enabled,
}: Project) {
  return { name, repo_url, repo_branch, root_directory, node_version, install_command, build_command, memory_limit_mb, always_warm, caching_enabled }
}

/** Hidden if the instance does not have these settings. */
const noMoreSettings: ProjectSettings = {
  health_path: limits.health_path.default,
  health_timeout_s: limits.health_timeout_s.default,
  cpu_limit: null,
  preview_volumes: 'empty',
  watch_paths: [],
  public_ports: [],
  apps: [],
  tracing: true,
  replicas: limits.replicas.default,
  autoscaling: null,
  sticky_sessions: false,
  node_labels: [],
}

const editableMoreSettings = ({ watch_paths, public_ports, apps, node_labels, ...plain }: ProjectSettings) => ({
  ...plain,
  watch_paths: watch_paths.join('\n'),
  public_ports: public_ports.join(', '),
  apps: apps.join('\n'),
  node_labels: node_labels.join(', '),
})

const toLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

const toWords = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean)

const toNumbers = (text: string): number[] => toWords(text).map(Number)

/** The fields that have a value. */
const pickDefined = <Values extends object>(values: Values): Partial<Values> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<Values>

function Section({ title, about, children }: { title: string; about?: string; children: React.ReactNode }) {
  return (
    <fieldset className={`card ${styles.settingsSection}`}>
      <legend className="visually-hidden">{title}</legend>
      <header aria-hidden>
        <h2>{title}</h2>
        {about && <p className="text-subtle">{about}</p>}
      </header>
      <div className="stack">{children}</div>
    </fieldset>
  )
}

function RedeployNotice({ project }: { project: Project }) {
  const [, navigate] = useLocation()
  const deploy = useDeployProject({
    onSuccess: ({ deployment_id }) => navigate(`/projects/${project.slug}/deployments/${deployment_id}`),
  })
  if (!project.is_connected || project.status === 'created') return null
  return (
    <div className={`card ${styles.redeploy}`} role="status">
      <p>Saved. Changes to source, build and runtime take effect with the next deployment.</p>
      <Button busy={deploy.isPending} onClick={() => deploy.mutate({ params: { slug: project.slug } })}>
        Redeploy
      </Button>
    </div>
  )
}

function BuildCacheSection({ slug }: { slug: string }) {
  const clear = useClearBuildCache({ successMessage: 'Build cache cleared. The next build installs everything again.' })
  return (
    <section className={`card ${styles.action}`} aria-labelledby="build-cache">
      <div>
        <h2 id="build-cache">Build cache</h2>
        <p className="text-muted">Dependencies and framework caches that make the next build faster. Clear them if a build uses outdated results.</p>
      </div>
      <Button busy={clear.isPending} onClick={() => clear.mutate({ params: { slug } })}>
        Clear build cache
      </Button>
    </section>
  )
}

function DeleteProjectSection({ project }: { project: Project }) {
  const [isConfirming, setConfirming] = useState(false)
  const [, navigate] = useLocation()
  const remove = useDeleteProject({
    hidesErrorToast: true,
    successMessage: `${project.name} deleted.`,
    onSuccess: () => navigate('/'),
  })
  return (
    <section className={`card ${styles.danger}`} aria-labelledby="danger">
      <div>
        <h2 id="danger">Delete project</h2>
        <p className="text-muted">The app stops immediately. Deployments, builds and logs are permanently deleted; your source is not affected.</p>
      </div>
      <Button kind="danger" onClick={() => setConfirming(true)}>
        Delete project…
      </Button>
      <ConfirmByNameDialog
        open={isConfirming}
        onOpenChange={(open) => {
          remove.reset()
          setConfirming(open)
        }}
        title={`Delete ${project.name}?`}
        description="This cannot be undone."
        name={project.slug}
        action="Delete project"
        busy={remove.isPending}
        onConfirm={() => remove.mutate({ params: { slug: project.slug } })}
      >
        {remove.error && <ProblemView problem={remove.error} />}
      </ConfirmByNameDialog>
    </section>
  )
}
