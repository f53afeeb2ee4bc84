import { useQueryClient } from '@tanstack/react-query'
import { Braces, ClipboardPaste, Download, Eye, EyeOff, Plus } from 'lucide-react'
import { type DragEvent, useCallback, useEffect, useState } from 'react'
import { useSearchParams } from 'wouter'
import { formatDotenv, parseDotenv } from '../../../server/contract/dotenv.ts'
import type { EnvVar, NewEnvVar } from '../../../server/contract/env-vars.ts'
import { putEnvVars } from '../../api/cache.ts'
import type { Answer } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { problemFrom } from '../../api/problem.ts'
import { useClient, useEnvVars, useProject } from '../../api/queries.ts'
import { useUi } from '../../stores/ui.ts'
import { Button } from '../../ui/button.tsx'
import { Empty, ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { useLanding } from '../frame/landing.ts'
import { useTitle } from '../frame/title.ts'
import { AddDialog } from './add-dialog.tsx'
import { DeploymentNotice } from './deployment-notice.tsx'
import { DeleteDialog, EditDialog } from './edit-dialog.tsx'
import { environments, seenBy } from './environments.ts'
import { download, readFile } from './files.ts'
import { ImportDialog } from './import-dialog.tsx'
import { VariableRow } from './variable-row.tsx'
import './page.css'

type Open = { name: 'add' } | { name: 'import'; text: string; fault: string | null } | { name: 'edit' | 'delete'; variable: EnvVar }
const nothingPasted: Open = { name: 'import', text: '', fault: null }

/** What the app finds in its environment, by who sees it. */
export default function EnvironmentPage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  const { data, error, refetch } = useEnvVars(slug)
  useTitle(`Environment · ${project?.name ?? slug}`)
  useLanding(data !== undefined)
  const client = useClient()
  const cache = useQueryClient()
  const showToast = useUi((state) => state.showToast)
  const [params, setParams] = useSearchParams()
  const [open, setOpen] = useState<Open | null>(null)
  const [showsAll, setShowsAll] = useState(false)
  const [started, setStarted] = useState<string | null>(null)
  const [leftOut, setLeftOut] = useState<string[]>([])
  const [isDragging, setDragging] = useState(false)
  // The palette, or a link, leads here with the wish already put.
  const wish = params.get('do')
  const shown = open ?? (wish === 'add' ? { name: 'add' as const } : wish === 'import' ? nothingPasted : null)
  const close = () => {
    setOpen(null)
    if (wish !== null) setParams({}, { replace: true })
  }
  const changed = (deploymentId: string | null) => {
    close()
    if (deploymentId !== null) setStarted(deploymentId)
    // First the deployment that comes of it, so that none is offered meanwhile.
    void cache.invalidateQueries({ queryKey: keys.latest(slug) }).then(() => cache.invalidateQueries({ queryKey: keys.envVars(slug) }))
  }
  const added = (answer: Answer<'createEnvVars'>, sent: readonly NewEnvVar[]) => {
    putEnvVars(cache, slug, answer, sent)
    changed(answer.deployment_id)
    const skipped = answer.skipped.map(({ key }) => key)
    if (skipped.length > 0) showToast({ kind: 'done', text: `Skipped, because they exist already: ${skipped.join(', ')}.`, request_id: null })
  }
  const deleted = async (variable: EnvVar) => {
    changed(null)
    if (variable.environment === 'preview') return
    // The answer has no body; the deployment that came of it is the newest by now.
    const page = await client.call('listDeployments', { params: { slug }, query: { limit: '1', target: 'production' } }).catch(() => null)
    const newest = page?.deployments[0]
    if (newest?.trigger === 'env_change') setStarted(newest.id)
  }
  const bring = useCallback((text: string, fault: string | null = null) => setOpen({ name: 'import', text, fault }), [])
  usePastedFile(bring, shown === null && data !== undefined)
  const drop = async (event: DragEvent) => {
    setDragging(false)
    const [file] = event.dataTransfer.files
    if (!file) return
    event.preventDefault()
    const { text, fault } = await readFile(file)
    bring(text, fault)
  }
  const save = (target: 'production' | 'preview') => {
    const { text, left_out } = formatDotenv(seenBy(data ?? [], target))
    setLeftOut(left_out)
    download(`${slug}.${target}.env`, text)
  }

  if (error && !data) return <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />
  if (!project || !data) return <SkeletonRows rows={6} height={56} />
  const hasShared = data.some(({ environment }) => environment === null)
  const acts = (
    <>
      <Button icon={ClipboardPaste} onClick={() => setOpen(nothingPasted)}>
        Paste a .env…
      </Button>
      <Button kind="primary" icon={Plus} onClick={() => setOpen({ name: 'add' })}>
        Add a variable
      </Button>
    </>
  )
  return (
    <div
      className={`stack env ${isDragging ? 'env-dragging' : ''}`}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes('Files')) return
        event.preventDefault()
        setDragging(true)
      }}
      onDragLeave={(event) => {
        if (!(event.relatedTarget instanceof Node) || !event.currentTarget.contains(event.relatedTarget)) setDragging(false)
      }}
      onDrop={(event) => void drop(event)}
    >
      <DeploymentNotice project={project} variables={data} started={started} onStarted={setStarted} />
      {leftOut.length > 0 && (
        <div className="card deployment-news" role="status">
          <p>
            Downloaded without <code>{leftOut.join(', ')}</code>: the format cannot hold {leftOut.length === 1 ? 'its value' : 'their values'}. A
            comment stands in {leftOut.length === 1 ? 'its' : 'their'} place.
          </p>
          <Button kind="bare" onClick={() => setLeftOut([])}>
            Dismiss
          </Button>
        </div>
      )}
      {data.length === 0 ? (
        <div className="card">
          <Empty icon={Braces} title="No variables yet" action={<div className="row env-empty">{acts}</div>}>
            What the app reads from its environment: addresses, keys, switches. Add one, or paste or drop a whole .env file anywhere here.
          </Empty>
        </div>
      ) : (
        <>
          <div className="env-bar">
            <p className="quiet">
              {data.length} {data.length === 1 ? 'variable' : 'variables'}. A .env file can be pasted or dropped anywhere here.
            </p>
            <div className="env-bar-acts">
              <Button icon={showsAll ? EyeOff : Eye} aria-pressed={showsAll} onClick={() => setShowsAll(!showsAll)}>
                {showsAll ? 'Hide values' : 'Show values'}
              </Button>
              <Menu trigger={<Button icon={Download}>Download</Button>}>
                <MenuItem icon={Download} onSelect={() => save('production')}>
                  What production has, as .env
                </MenuItem>
                <MenuItem icon={Download} onSelect={() => save('preview')}>
                  What previews have, as .env
                </MenuItem>
              </Menu>
              {acts}
            </div>
          </div>
          {error && <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />}
          {environments.map(({ name, value, title, about }) => {
            const variables = data.filter(({ environment }) => environment === value)
            return (
              variables.length > 0 && (
                <section key={name} className="card" aria-labelledby={name}>
                  <header className="card-head">
                    <h2 id={name}>{title}</h2>
                    {(value === null || hasShared) && <span className="faint env-about">{about}</span>}
                  </header>
                  <ul>
                    {variables.map((variable) => (
                      <VariableRow
                        // Show all, or hide all, begins anew for each.
                        key={`${variable.id}-${showsAll}`}
                        variable={variable}
                        showsAll={showsAll}
                        onEdit={() => setOpen({ name: 'edit', variable })}
                        onDelete={() => setOpen({ name: 'delete', variable })}
                      />
                    ))}
                  </ul>
                </section>
              )
            )
          })}
        </>
      )}
      {shown?.name === 'add' && (
        <AddDialog slug={slug} known={data} begin={params.get('key') ?? ''} onOpenChange={close} onAdded={added} onFile={bring} />
      )}
      {shown?.name === 'import' && <ImportDialog slug={slug} known={data} start={shown} onOpenChange={close} onAdded={added} />}
      {shown?.name === 'edit' && <EditDialog slug={slug} variable={shown.variable} onOpenChange={close} onChanged={() => changed(null)} />}
      {shown?.name === 'delete' && (
        <DeleteDialog slug={slug} variable={shown.variable} onOpenChange={close} onDeleted={() => void deleted(shown.variable)} />
      )}
    </div>
  )
}

/** A .env file pasted anywhere on the page but into a field. */
function usePastedFile(bring: (text: string) => void, isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return
    const paste = (event: ClipboardEvent) => {
      if (event.target instanceof HTMLElement && event.target.closest('input, textarea, [role=dialog]')) return
      const text = event.clipboardData?.getData('text') ?? ''
      if (!text.includes('=') || parseDotenv(text).length === 0) return
      event.preventDefault()
      bring(text)
    }
    document.addEventListener('paste', paste)
    return () => document.removeEventListener('paste', paste)
  }, [bring, isOn])
}
