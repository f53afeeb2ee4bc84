import { FolderOpen, GitBranch } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { useAction } from '../../api/actions.ts'
import type { ApiProblem } from '../../api/problem.ts'
import { useInstance } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { ProblemView } from '../../ui/feedback.tsx'
import { TextField } from '../../ui/field.tsx'
import { nameFrom, slugFrom } from '../../ui/format.ts'
import { Segments } from '../../ui/segments.tsx'
import { spoken, useAddress } from '../project/address.ts'
import { useFolderPicker } from '../project/folder-picker.ts'
import './source-form.css'

type Kind = 'folder' | 'git'

// Problems that a field shows better than a plate under the form.
const slugProblems = ['slug_taken', 'slug_reserved']

/** From nothing to a deployment under way: where the source is, what it shall be called, go. */
export function SourceForm({ onDone }: { onDone?: () => void }) {
  const isOwner = useInstance().data?.user.is_instance_owner ?? false
  const [chosenKind, setKind] = useState<Kind | null>(null)
  const kind = chosenKind ?? (isOwner ? 'folder' : 'git')
  const [source, setSource] = useState('')
  const [typedName, setName] = useState<string | null>(null)
  const [typedSlug, setSlug] = useState<string | null>(null)
  const [branch, setBranch] = useState('')
  const name = typedName ?? nameFrom(source)
  const slug = typedSlug ?? slugFrom(name)
  const address = useAddress(slug)
  const pickFolder = useFolderPicker()
  const [, go] = useLocation()

  const create = useAction('createProject', { quiet: true })
  const deploy = useAction('deployProject')
  const deployFolder = useAction('deployFolder', { quiet: true })
  const busy = create.isPending || deploy.isPending || deployFolder.isPending
  const problem = kind === 'git' ? create.error : deployFolder.error

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (busy) return
    if (kind === 'folder') {
      const done = await deployFolder.mutateAsync({ body: { path: source.trim(), slug, name } }).catch(() => null)
      if (done) leave(`/projects/${done.project.slug}/deployments/${done.deployment.id}`)
      return
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
      {isOwner && (
        <Segments
          label="Where the source is"
          value={kind}
          onChange={setKind}
          choices={[
            { value: 'folder', text: 'Local folder', icon: FolderOpen },
            { value: 'git', text: 'Git address', icon: GitBranch },
          ]}
        />
      )}
      <div className="source-line">
        <TextField
          key={kind}
          label={kind === 'folder' ? 'Folder' : 'Git address'}
          mono
          required
          value={source}
          onChange={({ target }) => setSource(target.value)}
          placeholder={kind === 'folder' ? '/home/me/my-app' : 'https://example.com/me/my-app.git'}
          hint={kind === 'folder' ? 'Deployed as it lies there, changes that are not committed included.' : 'https, ssh, git or file.'}
          error={problem?.issue(kind === 'folder' ? 'path' : 'repo_url')}
        />
        {kind === 'folder' && pickFolder && <Button onClick={() => void pickFolder().then((path) => path && setSource(path))}>Choose…</Button>}
      </div>
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
            'A name gives it an address.'
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
