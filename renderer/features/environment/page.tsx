import { Braces, ClipboardPaste, Download, Eye, EyeOff, FilePenLine, Plus, Search, Trash2 } from 'lucide-react'
import { type DragEvent, useCallback, useEffect, useMemo, useState } from 'react'
import { useSearchParams } from 'wouter'
import { useServingDeployment } from '../../api/deployments.ts'
import { useEnvVars } from '../../api/env-vars.ts'
import { useProject } from '../../api/projects.ts'
import { formatDotenv, parseDotenv } from '../../../server/contract/dotenv.ts'
import type { NewProjectEnvVar } from '../../../server/contract/env-vars.ts'
import { toApiError } from '../../lib/api-error.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { Menu, MenuItem } from '../../components/menu.tsx'
import { useScrollToSection } from '../../lib/use-scroll-to-section.ts'
import { saveFile } from '../../lib/save-file.ts'
import { useTitle } from '../../lib/use-title.ts'
import { AddVariableDialog } from './add-variable-dialog.tsx'
import { noChanges, stageAdditions, stageDeletions, stageEdit, type StagedVariable, stageVariables, unstage } from './change-set.ts'
import { useChangeSet } from './change-store.ts'
import { ChangesBar } from './changes-bar.tsx'
import { EditVariableDialog } from './edit-variable-dialog.tsx'
import { RedeployNotice } from './redeploy-notice.tsx'
import { TextEditDialog } from './text-edit-dialog.tsx'
import { environments, effectiveVariables } from '../../lib/environments.ts'
import { readEnvFile } from './env-file.ts'
import { ImportVariablesDialog } from './import-variables-dialog.tsx'
import { VariableRow } from './variable-row.tsx'
import styles from './page.module.css'

type OpenDialog = { name: 'add' | 'text' } | { name: 'import'; text: string; error: string | null } | { name: 'edit'; variable: StagedVariable }
const emptyImport: OpenDialog = { name: 'import', text: '', error: null }

/** Variables of a project by environment. */
export default function EnvironmentPage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  const { data, error, refetch } = useEnvVars(slug)
  useTitle(`Environment · ${project?.name ?? slug}`)
  useScrollToSection(data !== undefined)
  const { data: serving } = useServingDeployment(slug)
  const { changes, deletions, stage, rememberDeletions } = useChangeSet(slug)
  const variables = useMemo(() => data && stageVariables(data, changes), [data, changes])
  const [query, setQuery] = useState('')
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
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
  const added = (one: readonly NewProjectEnvVar[]) => {
    stage((before) => stageAdditions(before, one))
    close()
  }
  const remove = (ids: readonly string[]) => {
    stage((before) => stageDeletions(before, ids))
    setSelected(new Set())
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
    const effective = effectiveVariables(data ?? [], target)
    const { text, left_out } = formatDotenv(effective.filter((one) => !one.is_write_only))
    setOmitted({ unrepresentable: left_out, write_only: effective.filter((one) => one.is_write_only).map(({ key }) => key) })
    saveFile(new Blob([text], { type: 'text/plain' }), `${slug}.${target}.env`)
  }

  if (error && !data) return <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />
  if (!project || !data || !variables) return <SkeletonRows rows={6} height={56} />
  const hasShared = variables.some(({ environment }) => environment === null)
  const words = query.trim().toLowerCase()
  const found = variables.filter(({ key }) => key.toLowerCase().includes(words))
  const picked = found.filter(({ id, change }) => selected.has(id) && change !== 'deleted')
  const select = (id: string, isSelected: boolean) =>
    setSelected((before) => {
      const next = new Set(before)
      if (isSelected) next.add(id)
      else next.delete(id)
      return next
    })
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
      <RedeployNotice project={project} variables={data} deletions={deletions} startedId={startedId} onStarted={setStartedId} />
      {omitted && <OmittedNotice {...omitted} onDismiss={() => setOmitted(null)} />}
      {variables.length === 0 ? (
        <div className="card">
          <EmptyState icon={Braces} title="No variables yet" action={<div className={`row ${styles.envEmpty}`}>{actions}</div>}>
            Configuration that the app reads from its environment. Add a variable, or paste or drop a .env file anywhere on this page.
          </EmptyState>
        </div>
      ) : (
        <>
          <div className={styles.envBar}>
            <div className="search">
              <Search size={15} aria-hidden />
              <input
                className="input"
                type="search"
                placeholder={`Search ${variables.length} ${variables.length === 1 ? 'variable' : 'variables'}`}
                aria-label="Search variables"
                value={query}
                onChange={({ target }) => setQuery(target.value)}
              />
            </div>
            <div className={styles.envBarActions}>
              {/* In place of the other buttons, so that the list does not move. */}
              {picked.length > 0 ? (
                <Button kind="danger" icon={Trash2} onClick={() => remove(picked.map(({ id }) => id))}>
                  Delete {picked.length} selected
                </Button>
              ) : (
                <>
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
                  <Button icon={FilePenLine} onClick={() => setOpen({ name: 'text' })}>
                    Edit as text
                  </Button>
                </>
              )}
              {actions}
            </div>
          </div>
          {error && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
          {environments.map(({ name, value, title, about }) => {
            const own = found.filter(({ environment }) => environment === value)
            return (
              own.length > 0 && (
                <section key={name} className="card" aria-labelledby={name}>
                  <header className="card-header">
                    <h2 id={name}>{title}</h2>
                    {(value === null || hasShared) && <span className={`text-subtle ${styles.envAbout}`}>{about}</span>}
                  </header>
                  <ul>
                    {own.map((variable) => (
                      <VariableRow
                        // The state resets for each list.
                        key={`${variable.id}-${showsAll}`}
                        variable={variable}
                        showsAll={showsAll}
                        isSelected={selected.has(variable.id)}
                        onSelect={(isSelected) => select(variable.id, isSelected)}
                        onEdit={() => setOpen({ name: 'edit', variable })}
                        onDelete={() => remove([variable.id])}
                        onUndo={() => stage((before) => unstage(before, variable.id))}
                      />
                    ))}
                  </ul>
                </section>
              )
            )
          })}
        </>
      )}
      {words !== '' && found.length === 0 && <p className="text-muted">No variable name contains “{query}”.</p>}
      <ChangesBar
        slug={slug}
        variables={data}
        changes={changes}
        hasServing={Boolean(serving)}
        onDiscard={() => stage(() => noChanges)}
        onSaved={(deploymentId) => {
          const keys = data.filter(({ id, environment }) => changes.delete.includes(id) && environment !== 'preview').map(({ key }) => key)
          rememberDeletions(
            serving?.id ?? null,
            deploymentId === null ? [...(deletions && deletions.serving_id === serving?.id ? deletions.keys : []), ...keys] : [],
          )
          stage(() => noChanges)
          if (deploymentId !== null) setStartedId(deploymentId)
        }}
      />
      {openDialog?.name === 'add' && (
        <AddVariableDialog
          existing={variables}
          initialKey={params.get('key') ?? ''}
          onOpenChange={close}
          onAdded={(one) => added([one])}
          onFile={openImport}
        />
      )}
      {openDialog?.name === 'import' && <ImportVariablesDialog existing={variables} initial={openDialog} onOpenChange={close} onAdded={added} />}
      {openDialog?.name === 'text' && (
        <TextEditDialog
          variables={variables}
          onOpenChange={close}
          onEdited={(edit) => {
            stage((before) => {
              const edited = Object.entries(edit.update).reduce((set, [id, change]) => stageEdit(set, { id }, change), before)
              return stageAdditions(stageDeletions(edited, edit.delete), edit.create)
            })
            close()
          }}
        />
      )}
      {openDialog?.name === 'edit' && (
        <EditVariableDialog
          variable={openDialog.variable}
          onOpenChange={close}
          onChanged={(change) => {
            stage((before) => stageEdit(before, openDialog.variable, change))
            close()
          }}
        />
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
