import { FileArchive, FolderOpen, GitBranch, LifeBuoy, ListChecks, X } from 'lucide-react'
import { Suspense, useEffect, useState } from 'react'
import { useLocation, useRouter } from 'wouter'
import { useUpdateProjectSettings } from '../../api/project-settings.ts'
import { useCreateProject, useDeployFolder, useDeployProject, useUpdateProject } from '../../api/projects.ts'
import type { PlanChoice, PlanSource } from '../../api/source-plans.ts'
import { useCapabilities, useFolderPicker } from '../../api/capabilities.ts'
import { useConnection } from '../../stores/connection.ts'
import { uploadArchive } from '../../stores/uploads.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { ProblemView, Skeleton } from '../../components/feedback.tsx'
import { TextField } from '../../components/field.tsx'
import { formatBytes, projectNameFromSource, slugify } from '../../lib/format.ts'
import { lazyWithRetry, loadWithRetry } from '../../lib/load-with-retry.ts'
import { SegmentedControl } from '../../components/segmented-control.tsx'
import { displayUrl, useAppUrl } from '../../api/app-url.ts'
import type { Sample } from './samples.ts'
import { type DroppedSource, projectNameFromArchive } from '../../lib/dropped-source.ts'
import { ArchiveDropArea } from '../upload/index.ts'
import { useForm } from '../../lib/use-form.ts'
import styles from './source-form.module.css'

type SourceKind = 'folder' | 'git' | 'archive' | 'sample'

const SourcePlanView = lazyWithRetry(async () => {
  const { SourcePlanView: component } = await import('../plan/index.ts')
  return { default: component }
})

const wholeSource: PlanChoice = { root_directory: null, apps: [] }

const SamplePicker = lazyWithRetry(() => import('./sample-picker.tsx'))

interface SourceValues {
  /** Null: the one that suits the instance. */
  kind: SourceKind | null
  /** A folder, or the address of a repository. */
  source: string
  /** Null: derived from the source, and the slug from the name. */
  name: string | null
  slug: string | null
  repo_branch: string
  archive: DroppedSource | null
  sample: Sample | null
}

const emptySource: SourceValues = { kind: null, source: '', name: null, slug: null, repo_branch: '', archive: null, sample: null }

// Error codes that a field shows instead of the form.
const slugProblems = ['slug_taken', 'slug_reserved']

/** Creates a project from a source and deploys it. */
export function SourceForm({
  dropped,
  initialKind,
  onDone,
}: {
  dropped?: DroppedSource | null
  initialKind?: SourceKind | undefined
  onDone?: () => void
}) {
  const capabilities = useCapabilities()
  const create = useCreateProject({ hidesErrorToast: true })
  const update = useUpdateProject({ hidesErrorToast: true })
  const updateSettings = useUpdateProjectSettings({ hidesErrorToast: true })
  const deploy = useDeployProject()
  const deployFolder = useDeployFolder({ hidesErrorToast: true })
  const error = create.error ?? deployFolder.error
  const form = useForm({
    initial: emptySource,
    submission: {
      isPending: create.isPending || update.isPending || deploy.isPending || deployFolder.isPending,
      error,
      reset() {
        create.reset()
        deployFolder.reset()
      },
    },
    onSubmit: () => void submit(),
    fieldOf: ({ code }) => slugProblems.includes(code) && 'slug',
  })
  const { source, repo_branch: branch, archive, sample } = form.values
  const kind = form.values.kind ?? (capabilities.can_deploy_folders ? 'folder' : 'git')
  const archiveFile = archive?.kind === 'archive' ? archive : null
  const [planned, setPlanned] = useState<PlanSource | null>(null)
  const [choice, setChoice] = useState<PlanChoice>(wholeSource)
  const name =
    form.values.name ??
    (kind === 'archive'
      ? projectNameFromArchive(archiveFile?.file.name ?? '')
      : kind === 'sample'
        ? (sample?.title ?? '')
        : projectNameFromSource(source.trim()))
  const slug = form.values.slug ?? slugify(name)
  const address = useAppUrl(slug)
  const pickFolder = useFolderPicker()
  const connection = useConnection((state) => state.current)
  const [, navigate] = useLocation()
  const { base } = useRouter()

  const isPlannable = capabilities.has_instance_api && (kind === 'git' || kind === 'folder')
  // Another source has its own plan, which is shown on request.
  const forgetPlan = () => {
    setPlanned(null)
    setChoice(wholeSource)
  }
  const acceptSource = (picked: DroppedSource) => {
    form.set(picked.kind === 'folder' ? { kind: 'folder', source: picked.path } : { kind: 'archive', archive: picked })
    forgetPlan()
  }
  // Files dropped on the page around the form are used as the source.
  useEffect(() => {
    if (dropped) acceptSource(dropped)
  }, [dropped])

  useEffect(() => {
    if (initialKind) form.set({ kind: initialKind })
  }, [initialKind])

  const submit = async () => {
    const rootDirectory = choice.root_directory === null ? {} : { root_directory: choice.root_directory }
    if (kind === 'folder') {
      const done = await deployFolder.mutateAsync({ body: { path: source.trim(), slug, name, ...rootDirectory } }).catch(() => null)
      if (done) finish(`/projects/${done.project.slug}/deployments/${done.deployment.id}`)
      return
    }
    if (kind === 'archive') {
      if (!archiveFile) return form.set({ archive: { kind: 'fault', text: 'Choose an archive first.' } })
      const created = await create.mutateAsync({ body: { name, slug } }).catch(() => null)
      if (!created) return
      void uploadArchive(connection, base, { slug, file: archiveFile.file, type: archiveFile.type, is_new: true })
      return finish(`/projects/${slug}`)
    }
    if (kind === 'sample') {
      if (!sample) return
      const created = await create.mutateAsync({ body: { name, slug } }).catch(() => null)
      if (!created) return
      const { createSampleArchive } = await loadWithRetry(() => import('./samples.ts'))
      void uploadArchive(connection, base, { slug, file: await createSampleArchive(sample.name), type: 'application/gzip', is_new: true })
      return finish(`/projects/${slug}`)
    }
    const body = { name, slug, repo_url: repositoryUrl(source), ...(branch.trim() ? { repo_branch: branch.trim() } : {}) }
    const created = await create.mutateAsync({ body }).catch(() => null)
    if (!created) return
    if (choice.root_directory !== null) await update.mutateAsync({ params: { slug: created.project.slug }, body: rootDirectory }).catch(() => null)
    if (choice.apps.length > 0)
      await updateSettings.mutateAsync({ params: { slug: created.project.slug }, body: { apps: [...choice.apps] } }).catch(() => null)
    const queued = await deploy.mutateAsync({ params: { slug: created.project.slug } }).catch(() => null)
    finish(queued ? `/projects/${created.project.slug}/deployments/${queued.deployment_id}` : `/projects/${created.project.slug}`)
  }
  const showPlan = () => {
    setChoice(wholeSource)
    setPlanned(
      kind === 'folder'
        ? { kind: 'folder', path: source.trim() }
        : { kind: 'repository', repo_url: repositoryUrl(source), repo_branch: branch.trim() || undefined },
    )
  }
  const finish = (to: string) => {
    onDone?.()
    navigate(to)
  }

  return (
    <form className={styles.sourceForm} {...form.props}>
      <SegmentedControl
        label="Source"
        value={kind}
        onChange={(next) => {
          form.set({ kind: next })
          forgetPlan()
        }}
        choices={[
          ...(capabilities.can_deploy_folders ? [{ value: 'folder', text: 'Local folder', icon: FolderOpen } as const] : []),
          { value: 'git', text: 'Git URL', icon: GitBranch },
          { value: 'archive', text: 'Archive', icon: FileArchive },
          { value: 'sample', text: 'Sample', icon: LifeBuoy },
        ]}
      />
      {kind === 'sample' ? (
        <Suspense fallback={<Skeleton height={332} />}>
          <SamplePicker value={sample?.name ?? null} onChange={(next) => form.set({ sample: next })} />
        </Suspense>
      ) : kind === 'archive' ? (
        archiveFile ? (
          <div className={styles.payload}>
            <FileArchive size={20} aria-hidden />
            <div>
              <strong className="truncate">{archiveFile.file.name}</strong>
              <span className="text-subtle">{formatBytes(archiveFile.file.size)}</span>
            </div>
            <IconButton icon={X} label="Remove archive" onClick={() => form.set({ archive: null })} />
          </div>
        ) : (
          <ArchiveDropArea error={archive?.kind === 'fault' ? archive.text : null} onChosen={acceptSource} />
        )
      ) : (
        <div className="field-line">
          <TextField
            key={kind}
            label={kind === 'folder' ? 'Folder' : 'Git URL'}
            mono
            required
            value={source}
            onChange={({ target }) => {
              form.set({ source: target.value })
              forgetPlan()
            }}
            placeholder={kind === 'folder' ? '/home/me/my-app' : 'https://example.com/me/my-app.git'}
            hint={kind === 'folder' ? 'Deploys the folder as is, including uncommitted changes.' : 'https, ssh, git or file URL.'}
            error={error?.issueFor(kind === 'folder' ? 'path' : 'repo_url')}
          />
          {kind === 'folder' && pickFolder && (
            <Button onClick={() => void pickFolder().then((path) => path && acceptSource({ kind: 'folder', path }))}>Choose…</Button>
          )}
        </div>
      )}
      <div className={styles.sourcePair}>
        <TextField
          label="Name"
          required
          value={name}
          onChange={({ target }) => form.set({ name: target.value })}
          error={form.error('name')}
          placeholder="My app"
        />
        <TextField
          label="Slug"
          mono
          required
          value={slug}
          onChange={({ target }) => form.set({ slug: target.value })}
          placeholder="my-app"
          error={form.error('slug')}
        />
      </div>
      {kind === 'git' && <TextField label="Branch" mono placeholder="main" {...form.text('repo_branch')} />}
      {form.problem?.issues.length === 0 && <ProblemView problem={form.problem} />}
      <footer className={styles.sourceFoot}>
        <p className="text-subtle truncate">
          {slug && address ? (
            <>
              URL: <span className="mono">{displayUrl(address)}</span>
            </>
          ) : (
            'Choose a name to get a URL.'
          )}
        </p>
        {isPlannable && planned === null && (
          <Button icon={ListChecks} disabled={source.trim() === ''} onClick={showPlan}>
            Show plan
          </Button>
        )}
        <Button kind="primary" type="submit" busy={form.is_busy}>
          Deploy
        </Button>
      </footer>
      {planned && isPlannable && (
        <Suspense fallback={<Skeleton height={260} />}>
          {choice.root_directory !== null && (
            <p className={styles.chosenApp}>
              <span>
                Root directory: <span className="mono">{choice.root_directory}</span>
              </span>
              <Button onClick={() => setChoice(wholeSource)}>All apps</Button>
            </p>
          )}
          <SourcePlanView source={planned} choice={choice} onChoose={setChoice} />
        </Suspense>
      )}
    </form>
  )
}

/** `git@host:me/app.git`, the notation of Git hosts, is an ssh URL. */
function repositoryUrl(text: string): string {
  const scp = /^([\w.-]+@[\w.-]+):(?!\/\/)(.+)$/.exec(text.trim())
  if (scp) return `ssh://${scp[1]}/${scp[2]}`
  return text.trim().startsWith('/') ? `file://${text.trim()}` : text.trim()
}
