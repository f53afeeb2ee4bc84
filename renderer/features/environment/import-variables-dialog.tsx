import { FileUp } from 'lucide-react'
import { type DragEvent, useMemo, useRef, useState } from 'react'
import type { NewProjectEnvVar } from '../../../server/contract/env-vars.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { StatusIcon, type StatusBadgeData } from '../../components/status.tsx'
import { isSecretName, type StagedVariable } from './change-set.ts'
import { EnvironmentField } from './environment-field.tsx'
import { type Exposure, ExposureFields } from './exposure-fields.tsx'
import { type EnvironmentName, environmentFromName } from '../../lib/environments.ts'
import { useForm } from '../../lib/use-form.ts'
import { readEnvFile } from './env-file.ts'
import { type ImportPlan, type ImportPlanLine, planImport } from './import-plan.ts'
import { ValueField } from './value-field.tsx'
import styles from './page.module.css'

const allReadable: Exposure = { is_sensitive: false, is_write_only: false, is_build_secret: false }

/** Imports a .env file and previews the result of each line. */
export function ImportVariablesDialog({
  existing,
  initial,
  onOpenChange,
  onAdded,
}: {
  existing: readonly StagedVariable[]
  /** Text that was pasted or dropped on the page. */
  initial: { text: string; error: string | null }
  onOpenChange: (open: boolean) => void
  onAdded: (added: NewProjectEnvVar[]) => void
}) {
  const [fileError, setFileError] = useState(initial.error)
  const fileInput = useRef<HTMLInputElement>(null)
  const form = useForm<{ text: string; name: EnvironmentName; exposure: Exposure }>({
    initial: { text: initial.text, name: 'both', exposure: allReadable },
    onSubmit: () => void (vars.length > 0 && onAdded(vars)),
  })
  const { text, name, exposure } = form.values
  const environment = environmentFromName(name)
  const plan = useMemo(
    () =>
      planImport(
        text,
        environment,
        existing.filter(({ change }) => change !== 'deleted'),
      ),
    [text, environment, existing],
  )
  const vars = plan.vars.map((one) => ({ ...one, environment, ...exposure, is_sensitive: exposure.is_sensitive || isSecretName(one.key) }))
  const setText = (next: string) => {
    setFileError(null)
    form.set({ text: next })
  }
  const loadFile = async (file: File | undefined) => {
    if (!file) return
    const loaded = await readEnvFile(file)
    if (loaded.error === null) setText(loaded.text)
    else setFileError(loaded.error)
  }
  const drop = (event: DragEvent) => {
    if (event.dataTransfer.files.length === 0) return
    event.preventDefault()
    event.stopPropagation()
    void loadFile(event.dataTransfer.files[0])
  }
  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title="Import .env file"
      description="Review the result of each line before it is added to your changes."
    >
      <form className="stack" {...form.props} onDrop={drop} onDragOver={(event) => event.preventDefault()}>
        <ValueField
          label="File content"
          rows={5}
          value={text}
          placeholder={'# Paste or drop a .env file here\nAPI_URL=https://api.example.com'}
          onChange={({ target }) => setText(target.value)}
          error={fileError ?? undefined}
        />
        <EnvironmentField value={name} onChange={(next) => form.set({ name: next })} />
        <ExposureFields isForAll values={exposure} onChange={(change) => form.set({ exposure: { ...exposure, ...change } })} />
        <ImportPlanView plan={plan} isEmpty={text.trim() === ''} />
        <footer className="dialog-footer">
          <Button icon={FileUp} className="dialog-aside" onClick={() => fileInput.current?.click()}>
            Choose file…
          </Button>
          <input
            ref={fileInput}
            type="file"
            hidden
            aria-label=".env file"
            onChange={({ target }) => {
              void loadFile(target.files?.[0])
              target.value = ''
            }}
          />
          <Button onClick={() => onOpenChange(false)}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={plan.vars.length === 0}>
            {plan.vars.length === 0 ? 'Add' : `Add ${plan.vars.length} ${plan.vars.length === 1 ? 'variable' : 'variables'}`}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

const outcomeBadges: Record<ImportPlanLine['outcome'], StatusBadgeData> = {
  create: { label: 'Added', shape: 'disc', tone: 'live' },
  skip: { label: 'Skipped', shape: 'dash', tone: 'idle' },
  refuse: { label: 'Rejected', shape: 'cross', tone: 'fail' },
}

function ImportPlanView({ plan, isEmpty }: { plan: ImportPlan; isEmpty: boolean }) {
  const count = (outcome: ImportPlanLine['outcome']) => plan.lines.filter((line) => line.outcome === outcome).length
  return (
    <section className={styles.envPlan} aria-label="Import preview">
      <p role="status" className="text-muted">
        {isEmpty
          ? 'The preview of your import appears here.'
          : plan.lines.length === 0
            ? 'No KEY=value lines found.'
            : `${count('create')} will be added, ${count('skip')} skipped, ${count('refuse')} rejected.`}
      </p>
      {plan.lines.length > 0 && (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- makes the region scrollable with the keyboard
        <div className={styles.envPlanScroll} tabIndex={0} role="group" aria-label="Lines">
          <ol>
            {plan.lines.map(({ line, key, outcome, reason }) => (
              <li key={`${line}-${key}`} className={styles.envPlanLine}>
                <span className={`text-subtle mono ${styles.envPlanNumber}`}>
                  <span className="visually-hidden">Line </span>
                  {line}
                </span>
                <span className={`${styles.envPlanMark} tone-${outcomeBadges[outcome].tone}`}>
                  <StatusIcon badge={outcomeBadges[outcome]} size={10} />
                </span>
                <span>
                  {key !== null && <code>{key}</code>}
                  <span className="text-muted">
                    {outcomeBadges[outcome].label}
                    {reason && `: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}`}
                  </span>
                </span>
              </li>
            ))}
          </ol>
        </div>
      )}
    </section>
  )
}
