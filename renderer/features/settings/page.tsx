import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { limits } from '../../../server/contract/limits.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { useAction } from '../../api/actions.ts'
import type { CallInput } from '../../api/client.ts'
import { useLatest, useProject } from '../../api/queries.ts'
import { useUi } from '../../stores/ui.ts'
import { Button } from '../../ui/button.tsx'
import { NamedConfirm } from '../../ui/dialog.tsx'
import { ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { SwitchField, TextField } from '../../ui/field.tsx'
import { frameworkName } from '../../ui/frameworks.ts'
import { useTitle } from '../frame/title.ts'
import './page.css'

type Changes = NonNullable<CallInput<'updateProject'>['body']>

export default function SettingsPage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  useTitle(`Settings · ${project?.name ?? slug}`)
  return project ? <Settings project={project} /> : <SkeletonRows rows={6} height={72} />
}

// What the platform finds out by itself is an empty field here, not a word to be typed.
const auto = 'auto'
// These hold from the moment that they are saved.
const atOnce = ['name', 'caching_enabled', 'always_warm']
const detectable = ['node_version', 'install_command', 'build_command'] as const

function Settings({ project }: { project: Project }) {
  const { data: latest } = useLatest(project.slug)
  const showToast = useUi((state) => state.showToast)
  const [changes, setChanges] = useState<Changes>({})
  const [saved, setSaved] = useState(false)
  const save = useAction('updateProject', {
    quiet: true,
    onDone({ project: after }) {
      const asked = changes.memory_limit_mb
      if (asked !== undefined && after.memory_limit_mb < asked) {
        showToast({ kind: 'failed', text: `The plan allows ${after.memory_limit_mb} MB; that is what was set.`, request_id: null })
      } else showToast({ kind: 'done', text: 'Settings saved.', request_id: null })
      setSaved(Object.keys(changes).some((name) => !atOnce.includes(name)))
      setChanges({})
    },
  })
  const now = { ...project, ...changes }
  const dirty = Object.keys(changes).length > 0
  const change = (more: Changes) => {
    save.reset()
    setChanges((before) => {
      const next = { ...before, ...more }
      return Object.fromEntries(Object.entries(next).filter(([name, value]) => project[name as keyof Changes] !== value))
    })
  }
  const text = (name: 'name' | 'repo_branch' | 'root_directory') => ({
    value: now[name],
    onChange: ({ target }: { target: HTMLInputElement }) => change({ [name]: target.value }),
    error: save.error?.issue(name),
  })
  const found = (name: (typeof detectable)[number]) => ({
    value: now[name] === auto ? '' : now[name],
    onChange: ({ target }: { target: HTMLInputElement }) => change({ [name]: target.value === '' ? auto : target.value }),
    error: save.error?.issue(name),
    placeholder: latest?.framework ? `Found in the source (${frameworkName(latest.framework)})` : 'Found in the source',
    mono: true,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (dirty) save.mutate({ params: { slug: project.slug }, body: changes })
  }

  return (
    <div className="settings">
      <form className="stack" onSubmit={submit} aria-label="Settings">
        {saved && !dirty && <Redeploy project={project} />}
        <Section title="Project">
          <TextField label="Name" required {...text('name')} />
          <TextField label="Slug" mono value={project.slug} disabled readOnly hint="It is part of the address and stays as it is." />
        </Section>
        <Section title="Source">
          <TextField
            label="Repository"
            mono
            value={now.repo_url ?? ''}
            onChange={({ target }) => change({ repo_url: target.value.trim() === '' ? null : target.value.trim() })}
            error={save.error?.issue('repo_url')}
            placeholder="None"
            hint="Empty: the project is deployed from folders."
          />
          <TextField label="Branch" mono required {...text('repo_branch')} hint="What production is built from." />
          <TextField label="Root directory" mono required {...text('root_directory')} hint="Where the app lies in the repository; . is its top." />
        </Section>
        <Section title="Build" about="Left empty, each is found in the source; the build log says what was found and why.">
          <TextField label="Node version" {...found('node_version')} />
          <TextField label="Install command" {...found('install_command')} />
          <TextField label="Build command" {...found('build_command')} />
        </Section>
        <Section title="Run time">
          <TextField
            label="Memory, in MB"
            type="number"
            min={limits.memory_mb.min}
            max={limits.memory_mb.max}
            step={64}
            value={Number.isNaN(now.memory_limit_mb) ? '' : now.memory_limit_mb}
            onChange={({ target }) => change({ memory_limit_mb: target.valueAsNumber })}
            error={save.error?.issue('memory_limit_mb')}
            hint={`${limits.memory_mb.min} to ${limits.memory_mb.max}. An app that needs more is stopped and says so.`}
          />
          <SwitchField
            label="Always warm"
            hint="Does not sleep when nobody asks for it. Left off, it sleeps after a while without a request and wakes with the next one."
            error={save.error?.code === 'paid_plan_required' ? save.error.message : undefined}
            checked={now.always_warm}
            onChange={(always_warm) => change({ always_warm })}
          />
          <SwitchField
            label="Edge cache"
            hint="Keeps what the app marks as cacheable at the edge."
            checked={now.caching_enabled}
            onChange={(caching_enabled) => change({ caching_enabled })}
          />
        </Section>
        {save.error && save.error.issues.length === 0 && save.error.code !== 'paid_plan_required' && <ProblemView problem={save.error} />}
        <div className={`save-bar ${dirty ? 'save-bar-on' : ''}`} aria-live="polite">
          <span className="quiet">{dirty ? 'There are changes that are not saved.' : 'Everything is saved.'}</span>
          <Button
            disabled={!dirty}
            onClick={() => {
              save.reset()
              setChanges({})
            }}
          >
            Discard
          </Button>
          <Button kind="primary" type="submit" disabled={!dirty} busy={save.isPending}>
            Save
          </Button>
        </div>
      </form>
      <Danger project={project} />
    </div>
  )
}

function Section({ title, about, children }: { title: string; about?: string; children: React.ReactNode }) {
  return (
    <fieldset className="card settings-section">
      <legend className="unseen">{title}</legend>
      <header aria-hidden>
        <h2>{title}</h2>
        {about && <p className="faint">{about}</p>}
      </header>
      <div className="stack">{children}</div>
    </fieldset>
  )
}

function Redeploy({ project }: { project: Project }) {
  const [, go] = useLocation()
  const deploy = useAction('deployProject', { onDone: ({ deployment_id }) => go(`/projects/${project.slug}/deployments/${deployment_id}`) })
  if (!project.is_connected || project.status === 'created') return null
  return (
    <div className="card redeploy" role="status">
      <p>Saved. Changes of source, build and run time take effect with the next deployment.</p>
      <Button busy={deploy.isPending} onClick={() => deploy.mutate({ params: { slug: project.slug } })}>
        Deploy now
      </Button>
    </div>
  )
}

function Danger({ project }: { project: Project }) {
  const [asking, setAsking] = useState(false)
  const [, go] = useLocation()
  const remove = useAction('deleteProject', { quiet: true, done: `${project.name} is deleted.`, onDone: () => go('/') })
  return (
    <section className="card danger" aria-labelledby="danger">
      <div>
        <h2 id="danger">Delete this project</h2>
        <p className="quiet">Its app stops at once; deployments, builds and logs are gone for good. The source stays where it is.</p>
      </div>
      <Button kind="danger" onClick={() => setAsking(true)}>
        Delete…
      </Button>
      <NamedConfirm
        open={asking}
        onOpenChange={(open) => {
          remove.reset()
          setAsking(open)
        }}
        title={`Delete ${project.name}?`}
        about="There is no way back."
        name={project.slug}
        action="Delete the project"
        busy={remove.isPending}
        onConfirm={() => remove.mutate({ params: { slug: project.slug } })}
      >
        {remove.error && <ProblemView problem={remove.error} />}
      </NamedConfirm>
    </section>
  )
}
