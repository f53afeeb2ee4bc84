import { FileArchive, FolderOpen, GitBranch, LifeBuoy, X } from 'lucide-react'
import { type FormEvent, Suspense, useEffect, useState } from 'react'
import { useLocation, useRouter } from 'wouter'
import { useAction } from '../../api/actions.ts'
import type { ApiProblem } from '../../api/problem.ts'
import { useOffered } from '../../api/offered.ts'
import { useConnection } from '../../stores/connection.ts'
import { sendArchive } from '../../stores/uploads.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { ProblemView, Skeleton } from '../../ui/feedback.tsx'
import { TextField } from '../../ui/field.tsx'
import { bytes, nameFrom, slugFrom } from '../../ui/format.ts'
import { lazyPart, loadPart } from '../../ui/load-part.ts'
import { Segments } from '../../ui/segments.tsx'
import { spoken, useAddress } from '../project/address.ts'
import { useFolderPicker } from '../project/folder-picker.ts'
import type { Sample } from '../samples/samples.ts'
import { type Dropped, nameOfArchive } from '../upload/archive.ts'
import { ArchiveBerth } from '../upload/upload-dialog.tsx'
import './source-form.css'

type Kind = 'folder' | 'git' | 'archive' | 'sample'

const SampleShelf = lazyPart(() => import('../samples/shelf.tsx'))

// Problems that a field shows better than a plate under the form.
const slugProblems = ['slug_taken', 'slug_reserved']

/** From nothing to a deployment under way: where the source is, what it shall be called, go. */
export function SourceForm({ dropped, begin, onDone }: { dropped?: Dropped | null; begin?: Kind | undefined; onDone?: () => void }) {
  const offered = useOffered()
  const [chosenKind, setKind] = useState<Kind | null>(null)
  const kind = chosenKind ?? (offered.folders ? 'folder' : 'git')
  const [source, setSource] = useState('')
  const [typedName, setName] = useState<string | null>(null)
  const [typedSlug, setSlug] = useState<string | null>(null)
  const [branch, setBranch] = useState('')
  const [archive, setArchive] = useState<Dropped | null>(null)
  const cargo = archive?.kind === 'archive' ? archive : null
  const [sample, setSample] = useState<Sample | null>(null)
  const name =
    typedName ?? (kind === 'archive' ? nameOfArchive(cargo?.file.name ?? '') : kind === 'sample' ? (sample?.title ?? '') : nameFrom(source))
  const slug = typedSlug ?? slugFrom(name)
  const address = useAddress(slug)
  const pickFolder = useFolderPicker()
  const connection = useConnection((state) => state.current)
  const [, go] = useLocation()
  const { base } = useRouter()

  const create = useAction('createProject', { quiet: true })
  const deploy = useAction('deployProject')
  const deployFolder = useAction('deployFolder', { quiet: true })
  const busy = create.isPending || deploy.isPending || deployFolder.isPending
  const problem = kind === 'folder' ? deployFolder.error : create.error
  const take = (taken: Dropped) => {
    setKind(taken.kind === 'folder' ? 'folder' : 'archive')
    if (taken.kind === 'folder') setSource(taken.path)
    else setArchive(taken)
  }
  // What is dropped on the page around the form lands in it.
  useEffect(() => {
    if (dropped) take(dropped)
  }, [dropped])

  useEffect(() => {
    if (begin) setKind(begin)
  }, [begin])

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (busy) return
    if (kind === 'folder') {
      const done = await deployFolder.mutateAsync({ body: { path: source.trim(), slug, name } }).catch(() => null)
      if (done) leave(`/projects/${done.project.slug}/deployments/${done.deployment.id}`)
      return
    }
    if (kind === 'archive') {
      if (!cargo) return setArchive({ kind: 'fault', text: 'Choose the archive first.' })
      const made = await create.mutateAsync({ body: { name, slug } }).catch(() => null)
      if (!made) return
      void sendArchive(connection, base, { slug, file: cargo.file, type: cargo.type, is_new: true })
      return leave(`/projects/${slug}`)
    }
    if (kind === 'sample') {
      if (!sample) return
      const made = await create.mutateAsync({ body: { name, slug } }).catch(() => null)
      if (!made) return
      const { archiveOf } = await loadPart(() => import('../samples/samples.ts'))
      void sendArchive(connection, base, { slug, file: await archiveOf(sample.name), type: 'application/gzip', is_new: true })
      return leave(`/projects/${slug}`)
    }
    const body = { name, slug, repo_url: repositoryUrl(source), ...(branch.trim() ? { repo_branch: branch.trim() } : {}) }
    const created = await create.mutateAsync({ body }).catch(() => null)
    if (!created) return
    const queued = await deploy.mutateAsync({ params: { slug: created.project.slug } }).catch(() => null)
    leave(queued ? `/projects/${created.project.slug}/deployments/${queued.deployment_id}` : `/projects/${created.project.slug}`)
  }
  const leave = (to: string) => {
    onDone?.()
    go(to)
  }

  return (
    <form className="source-form" onSubmit={submit}>
      <Segments
        label="Where the source is"
        value={kind}
        onChange={setKind}
        choices={[
          ...(offered.folders ? [{ value: 'folder', text: 'Local folder', icon: FolderOpen } as const] : []),
          { value: 'git', text: 'Git address', icon: GitBranch },
          { value: 'archive', text: 'Archive', icon: FileArchive },
          { value: 'sample', text: 'Sample', icon: LifeBuoy },
        ]}
      />
      {kind === 'sample' ? (
        <Suspense fallback={<Skeleton height={332} />}>
          <SampleShelf value={sample?.name ?? null} onChange={setSample} />
        </Suspense>
      ) : kind === 'archive' ? (
        cargo ? (
          <div className="cargo">
            <FileArchive size={20} aria-hidden />
            <div>
              <strong className="clip">{cargo.file.name}</strong>
              <span className="faint">{bytes(cargo.file.size)}</span>
            </div>
            <IconButton icon={X} label="Take another archive" onClick={() => setArchive(null)} />
          </div>
        ) : (
          <ArchiveBerth fault={archive?.kind === 'fault' ? archive.text : null} onChosen={take} />
        )
      ) : (
        <div className="source-line">
          <TextField
            key={kind}
            label={kind === 'folder' ? 'Folder' : 'Git address'}
            mono
            required
            value={source}
            onChange={({ target }) => setSource(target.value)}
            placeholder={kind === 'folder' ? '/home/me/my-app' : 'https://example.com/me/my-app.git'}
            hint={kind === 'folder' ? 'Deploys the folder as is, including uncommitted changes.' : 'https, ssh, git or file.'}
            error={problem?.issue(kind === 'folder' ? 'path' : 'repo_url')}
          />
          {kind === 'folder' && pickFolder && <Button onClick={() => void pickFolder().then((path) => path && setSource(path))}>Choose…</Button>}
        </div>
      )}
      <div className="source-pair">
        <TextField
          label="Name"
          required
          value={name}
          onChange={({ target }) => setName(target.value)}
          error={problem?.issue('name')}
          placeholder="My app"
        />
        <TextField
          label="Slug"
          mono
          required
          value={slug}
          onChange={({ target }) => setSlug(target.value)}
          placeholder="my-app"
          error={problem?.issue('slug') ?? (problem && slugProblems.includes(problem.code) ? problem.message : undefined)}
        />
      </div>
      {kind === 'git' && (
        <TextField
          label="Branch"
          mono
          value={branch}
          onChange={({ target }) => setBranch(target.value)}
          placeholder="main"
          error={problem?.issue('repo_branch')}
        />
      )}
      {problem && showsPlate(problem) && <ProblemView problem={problem} />}
      <footer className="source-foot">
        <p className="faint clip">
          {slug && address ? (
            <>
              Will be at <span className="mono">{spoken(address)}</span>
            </>
          ) : (
            'Choose a name to get a URL.'
          )}
        </p>
        <Button kind="primary" type="submit" busy={busy}>
          Deploy
        </Button>
      </footer>
    </form>
  )
}

function showsPlate(problem: ApiProblem): boolean {
  return problem.issues.length === 0 && !slugProblems.includes(problem.code)
}

/** `git@host:me/app.git`, as hosts print it, is ssh in the words of a URL. */
function repositoryUrl(text: string): string {
  const scp = /^([\w.-]+@[\w.-]+):(?!\/\/)(.+)$/.exec(text.trim())
  if (scp) return `ssh://${scp[1]}/${scp[2]}`
  return text.trim().startsWith('/') ? `file://${text.trim()}` : text.trim()
}
