import { Braces, ClipboardPaste, Download, Eye, EyeOff, Plus } from 'lucide-react'
import { type DragEvent, useCallback, useEffect, useState } from 'react'
import { useSearchParams } from 'wouter'
import { useFindRedeployment } from '../../api/deployments.ts'
import { useEnvVars } from '../../api/env-vars.ts'
import { useProject } from '../../api/projects.ts'
import { formatDotenv, parseDotenv } from '../../../server/contract/dotenv.ts'
import type { ProjectEnvVar } from '../../../server/contract/env-vars.ts'
import type { CallOutput } from '../../../server/client/operation-types.ts'
import { toApiError } from '../../lib/api-error.ts'
import { useUi } from '../../stores/ui.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { Menu, MenuItem } from '../../components/menu.tsx'
import { useScrollToSection } from '../../lib/use-scroll-to-section.ts'
import { saveFile } from '../../lib/save-file.ts'
import { useTitle } from '../../lib/use-title.ts'
import { AddVariableDialog } from './add-variable-dialog.tsx'
import { RedeployNotice } from './redeploy-notice.tsx'
import { DeleteVariableDialog, EditVariableDialog } from './variable-dialogs.tsx'
import { environments, effectiveVariables } from '../../lib/environments.ts'
import { readEnvFile } from './env-file.ts'
import { ImportVariablesDialog } from './import-variables-dialog.tsx'
import { VariableRow } from './variable-row.tsx'
import styles from './page.module.css'

type OpenDialog = { name: 'add' } | { name: 'import'; text: string; error: string | null } | { name: 'edit' | 'delete'; variable: ProjectEnvVar }
const emptyImport: OpenDialog = { name: 'import', text: '', error: null }

/** Variables of a project by environment. */
export default function EnvironmentPage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  const { data, error, refetch } = useEnvVars(slug)
  useTitle(`Environment · ${project?.name ?? slug}`)
  useScrollToSection(data !== undefined)
  const findRedeployment = useFindRedeployment(slug)
  const showToast = useUi((state) => state.showToast)
  const [params, setParams] = useSearchParams()
  const [open, setOpen] = useState<OpenDialog | null>(null)
  const [showsAll, setShowsAll] = useState(false)
  const [startedId, setStartedId] = useState<string | null>(null)
  const [omitted, setOmitted] = useState<OmittedKeys | null>(null)
  const [isDragging, setDragging] = useState(false)
  // The palette and links open the dialog with this parameter.
  const requestedAction = params.get('do')
  const openDialog = open ?? (requestedAction === 'add' ? { name: 'add' as const } : requestedAction === 'import' ? emptyImport : null)
  const close = () => {
    setOpen(null)
    if (requestedAction !== null) setParams({}, { replace: true })
  }
  const changed = (deploymentId: string | null) => {
    close()
    if (deploymentId !== null) setStartedId(deploymentId)
  }
  const added = (answer: CallOutput<'createEnvVars'>) => {
    changed(answer.deployment_id)
    const skipped = answer.skipped.map(({ key }) => key)
    if (skipped.length > 0) showToast({ kind: 'done', text: `Skipped because they already exist: ${skipped.join(', ')}.`, request_id: null })
  }
  const deleted = async (variable: ProjectEnvVar) => {
    changed(null)
    if (variable.environment === 'preview') return
    const redeployment = await findRedeployment()
    if (redeployment) setStartedId(redeployment.id)
  }
  const openImport = useCallback((text: string, error: string | null = null) => setOpen({ name: 'import', text, error }), [])
  usePasteImport(openImport, openDialog === null && data !== undefined)
  const drop = async (event: DragEvent) => {
    setDragging(false)
    const [file] = event.dataTransfer.files
    if (!file) return
    event.preventDefault()
    const { text, error } = await readEnvFile(file)
    openImport(text, error)
  }
  const save = (target: 'production' | 'preview') => {
    const variables = effectiveVariables(data ?? [], target)
    const { text, left_out } = formatDotenv(variables.filter((one) => !one.is_write_only))
    setOmitted({ unrepresentable: left_out, write_only: variables.filter((one) => one.is_write_only).map(({ key }) => key) })
    saveFile(new Blob([text], { type: 'text/plain' }), `${slug}.${target}.env`)
  }

  if (error && !data) return <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />
  if (!project || !data) return <SkeletonRows rows={6} height={56} />
  const hasShared = data.some(({ environment }) => environment === null)
  const actions = (
    <>
      <Button icon={ClipboardPaste} onClick={() => setOpen(emptyImport)}>
        Import .env…
      </Button>
      <Button kind="primary" icon={Plus} onClick={() => setOpen({ name: 'add' })}>
        Add variable
      </Button>
    </>
  )
  return (
    <div
      className={`stack env ${isDragging ? styles.envDragging : ''}`}
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
      <RedeployNotice project={project} variables={data} startedId={startedId} onStarted={setStartedId} />
      {omitted && <OmittedNotice {...omitted} onDismiss={() => setOmitted(null)} />}
      {data.length === 0 ? (
        <div className="card">
          <EmptyState icon={Braces} title="No variables yet" action={<div className={`row ${styles.envEmpty}`}>{actions}</div>}>
            Configuration that the app reads from its environment. Add a variable, or paste or drop a .env file anywhere on this page.
          </EmptyState>
        </div>
      ) : (
        <>
          <div className={styles.envBar}>
            <p className="text-muted">
              {data.length} {data.length === 1 ? 'variable' : 'variables'}. Paste or drop a .env file anywhere on this page.
            </p>
            <div className={styles.envBarActions}>
              <Button icon={showsAll ? EyeOff : Eye} aria-pressed={showsAll} onClick={() => setShowsAll(!showsAll)}>
                {showsAll ? 'Hide values' : 'Show values'}
              </Button>
              <Menu trigger={<Button icon={Download}>Download</Button>}>
                <MenuItem icon={Download} onSelect={() => save('production')}>
                  Production variables (.env)
                </MenuItem>
                <MenuItem icon={Download} onSelect={() => save('preview')}>
                  Preview variables (.env)
                </MenuItem>
              </Menu>
              {actions}
            </div>
          </div>
          {error && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
          {environments.map(({ name, value, title, about }) => {
            const variables = data.filter(({ environment }) => environment === value)
            return (
              variables.length > 0 && (
                <section key={name} className="card" aria-labelledby={name}>
                  <header className="card-header">
                    <h2 id={name}>{title}</h2>
                    {(value === null || hasShared) && <span className={`text-subtle ${styles.envAbout}`}>{about}</span>}
                  </header>
                  <ul>
                    {variables.map((variable) => (
                      <VariableRow
                        // The state resets for each list.
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
      {openDialog?.name === 'add' && (
        <AddVariableDialog
          slug={slug}
          existing={data}
          initialKey={params.get('key') ?? ''}
          onOpenChange={close}
          onAdded={added}
          onFile={openImport}
        />
      )}
      {openDialog?.name === 'import' && (
        <ImportVariablesDialog slug={slug} existing={data} initial={openDialog} onOpenChange={close} onAdded={added} />
      )}
      {openDialog?.name === 'edit' && (
        <EditVariableDialog slug={slug} variable={openDialog.variable} onOpenChange={close} onChanged={() => changed(null)} />
      )}
      {openDialog?.name === 'delete' && (
        <DeleteVariableDialog slug={slug} variable={openDialog.variable} onOpenChange={close} onDeleted={() => void deleted(openDialog.variable)} />
      )}
    </div>
  )
}

interface OmittedKeys {
  unrepresentable: string[]
  write_only: string[]
}

/** The variables that a downloaded file does not contain. */
function OmittedNotice({ unrepresentable, write_only, onDismiss }: OmittedKeys & { onDismiss: () => void }) {
  if (unrepresentable.length + write_only.length === 0) return null
  return (
    <div className="card deployment-notice" role="status">
      <div>
        {unrepresentable.length > 0 && (
          <p>
            Downloaded without <code>{unrepresentable.join(', ')}</code>, because the .env format cannot represent{' '}
            {unrepresentable.length === 1 ? 'its value' : 'their values'}. The file has a comment in {unrepresentable.length === 1 ? 'its' : 'their'}{' '}
            place.
          </p>
        )}
        {write_only.length > 0 && (
          <p>
            Downloaded without <code>{write_only.join(', ')}</code>, because {write_only.length === 1 ? 'it is' : 'they are'} write-only.
          </p>
        )}
      </div>
      <Button kind="bare" onClick={onDismiss}>
        Dismiss
      </Button>
    </div>
  )
}

/** A .env file pasted anywhere on the page except in a field. */
function usePasteImport(openImport: (text: string) => void, isEnabled: boolean): void {
  useEffect(() => {
    if (!isEnabled) return
    const paste = (event: ClipboardEvent) => {
      if (event.target instanceof HTMLElement && event.target.closest('input, textarea, [role=dialog]')) return
      const text = event.clipboardData?.getData('text') ?? ''
      if (!text.includes('=') || parseDotenv(text).length === 0) return
      event.preventDefault()
      openImport(text)
    }
    document.addEventListener('paste', paste)
    return () => document.removeEventListener('paste', paste)
  }, [openImport, isEnabled])
}
