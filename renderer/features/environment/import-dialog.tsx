import { FileUp } from 'lucide-react'
import { type DragEvent, type FormEvent, useMemo, useRef, useState } from 'react'
import type { EnvVar, NewEnvVar } from '../../../server/contract/env-vars.ts'
import { useAction } from '../../api/actions.ts'
import type { Answer } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ProblemView } from '../../ui/feedback.tsx'
import { SwitchField } from '../../ui/field.tsx'
import { Mark, type Sign } from '../../ui/status.tsx'
import { EnvironmentField } from './environment-field.tsx'
import { type EnvironmentName, environmentOf } from './environments.ts'
import { readFile } from './files.ts'
import { type Plan, type PlanLine, planImport } from './plan.ts'
import { ValueField } from './value-field.tsx'

/** A whole .env file: what each line of it would do stands there before it is done. */
export function ImportDialog({
  slug,
  known,
  start,
  onOpenChange,
  onAdded,
}: {
  slug: string
  known: readonly EnvVar[]
  /** What was pasted or dropped on the page. */
  start: { text: string; fault: string | null }
  onOpenChange: (open: boolean) => void
  onAdded: (answer: Answer<'createEnvVars'>, sent: NewEnvVar[]) => void
}) {
  const [text, setText] = useState(start.text)
  const [fault, setFault] = useState(start.fault)
  const [name, setName] = useState<EnvironmentName>('both')
  const [isSensitive, setSensitive] = useState(false)
  const chooser = useRef<HTMLInputElement>(null)
  const environment = environmentOf(name)
  const plan = useMemo(() => planImport(text, environment, known), [text, environment, known])
  const vars = plan.vars.map((one) => ({ ...one, environment, is_sensitive: isSensitive }))
  const add = useAction('createEnvVars', { quiet: true, onDone: (answer) => onAdded(answer, vars) })
  const fresh = () => {
    if (add.error) add.reset()
    setFault(null)
  }
  const take = async (file: File | undefined) => {
    if (!file) return
    fresh()
    const read = await readFile(file)
    setFault(read.fault)
    if (read.fault === null) setText(read.text)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (vars.length === 0 || add.isPending) return
    add.mutate({ params: { slug }, body: { vars } })
  }
  const drop = (event: DragEvent) => {
    if (event.dataTransfer.files.length === 0) return
    event.preventDefault()
    event.stopPropagation()
    void take(event.dataTransfer.files[0])
  }
  return (
    <Dialog open onOpenChange={onOpenChange} title="Add from a .env file" about="Nothing is saved before you have seen what each line does.">
      <form className="stack" onSubmit={submit} onDrop={drop} onDragOver={(event) => event.preventDefault()}>
        <ValueField
          label="Content of the file"
          rows={5}
          value={text}
          placeholder={'# Paste it here, or drop the file\nAPI_URL=https://api.example.com'}
          onChange={({ target }) => {
            fresh()
            setText(target.value)
          }}
          error={fault ?? undefined}
        />
        <EnvironmentField
          value={name}
          onChange={(next) => {
            fresh()
            setName(next)
          }}
        />
        <SwitchField label="Mark all as sensitive" checked={isSensitive} onChange={setSensitive} />
        <PlanView plan={plan} isEmpty={text.trim() === ''} />
        {add.error && <ProblemView problem={add.error} />}
        <footer className="dialog-foot">
          <Button icon={FileUp} className="dialog-aside" onClick={() => chooser.current?.click()}>
            Choose a file…
          </Button>
          <input
            ref={chooser}
            type="file"
            hidden
            aria-label="The .env file"
            onChange={({ target }) => {
              void take(target.files?.[0])
              target.value = ''
            }}
          />
          <Button onClick={() => onOpenChange(false)}>Cancel</Button>
          <Button kind="primary" type="submit" busy={add.isPending} disabled={plan.vars.length === 0}>
            {plan.vars.length === 0 ? 'Add' : `Add ${plan.vars.length} ${plan.vars.length === 1 ? 'variable' : 'variables'}`}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

const signs: Record<PlanLine['fate'], Sign> = {
  create: { word: 'Will be added', shape: 'disc', tone: 'live' },
  skip: { word: 'Skipped', shape: 'dash', tone: 'idle' },
  refuse: { word: 'Refused', shape: 'cross', tone: 'fail' },
}

function PlanView({ plan, isEmpty }: { plan: Plan; isEmpty: boolean }) {
  const count = (fate: PlanLine['fate']) => plan.lines.filter((line) => line.fate === fate).length
  return (
    <section className="env-plan" aria-label="What each line does">
      <p role="status" className="quiet">
        {isEmpty
          ? 'What each line does shows here.'
          : plan.lines.length === 0
            ? 'There is no KEY=value in this.'
            : `${count('create')} will be added, ${count('skip')} skipped, ${count('refuse')} refused.`}
      </p>
      {plan.lines.length > 0 && (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- who has no mouse scrolls it by keys
        <div className="env-plan-scroll" tabIndex={0} role="group" aria-label="Lines">
          <ol>
            {plan.lines.map(({ line, key, fate, why }) => (
              <li key={`${line}-${key}`} className="env-plan-line">
                <span className="faint mono env-plan-number">
                  <span className="unseen">Line </span>
                  {line}
                </span>
                <span className={`env-plan-mark tone-${signs[fate].tone}`}>
                  <Mark sign={signs[fate]} size={10} />
                </span>
                <span>
                  {key !== null && <code>{key}</code>}
                  <span className="quiet">
                    {signs[fate].word}
                    {why && `: ${why.charAt(0).toLowerCase()}${why.slice(1)}`}
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
