import { type ClipboardEvent, type FormEvent, useState } from 'react'
import { parseDotenv } from '../../../server/contract/dotenv.ts'
import { keyFault, valueFault } from '../../../server/contract/env-var-rules.ts'
import type { EnvVar, NewEnvVar } from '../../../server/contract/env-vars.ts'
import { useAction } from '../../api/actions.ts'
import type { Answer } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ProblemView } from '../../ui/feedback.tsx'
import { SwitchField, TextField } from '../../ui/field.tsx'
import { EnvironmentField } from './environment-field.tsx'
import { type EnvironmentName, environmentOf, environmentWords } from './environments.ts'
import { ValueField } from './value-field.tsx'

/** One new variable. A whole file that lands in its first field goes to where files are looked at. */
export function AddDialog({
  slug,
  known,
  begin,
  onOpenChange,
  onAdded,
  onFile,
}: {
  slug: string
  known: readonly EnvVar[]
  /** Its name, where it is known which one is missing. */
  begin: string
  onOpenChange: (open: boolean) => void
  onAdded: (answer: Answer<'createEnvVars'>, sent: NewEnvVar[]) => void
  onFile: (text: string) => void
}) {
  const [key, setKey] = useState(begin)
  const [value, setValue] = useState('')
  const [name, setName] = useState<EnvironmentName>('both')
  const [isSensitive, setSensitive] = useState(false)
  const [tried, setTried] = useState(false)
  const environment = environmentOf(name)
  const sent = { key, value, environment, is_sensitive: isSensitive }
  const add = useAction('createEnvVars', { quiet: true, onDone: (answer) => onAdded(answer, [sent]) })
  const isThere = add.error?.code === 'env_vars_exist' || known.some((one) => one.key === key && one.environment === environment)
  const thereText = `${key} is there already for ${environmentWords(environment)}. Change its value in the list.`
  const keyError = isThere
    ? thereText
    : (add.error?.issue('key') ?? (tried && key === '' ? 'Give it a name.' : key === '' ? undefined : keyFault(key)))
  const valueError = add.error?.issue('value') ?? valueFault(value)

  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (key === '' || keyError !== undefined || valueError !== undefined || add.isPending) return
    add.mutate({ params: { slug }, body: sent })
  }
  const paste = (event: ClipboardEvent) => {
    const text = event.clipboardData.getData('text')
    if (!text.includes('=')) return
    const found = parseDotenv(text)
    const [only] = found
    if (!only) return
    event.preventDefault()
    if (found.length > 1) onFile(text)
    else {
      setKey(only.key)
      setValue(only.value)
    }
  }
  const fresh = () => add.error && add.reset()
  return (
    <Dialog open onOpenChange={onOpenChange} title="Add a variable" about="A whole .env file may be pasted into the first field, too.">
      <form className="stack" onSubmit={submit} noValidate>
        <TextField
          label="Key"
          mono
          required
          autoCapitalize="off"
          value={key}
          onPaste={paste}
          onChange={({ target }) => {
            fresh()
            setKey(target.value.trim())
          }}
          placeholder="DATABASE_URL"
          error={keyError}
        />
        <ValueField
          label="Value"
          value={value}
          onChange={({ target }) => {
            fresh()
            setValue(target.value)
          }}
          error={valueError}
          hint="May have many lines, and may be empty."
        />
        <EnvironmentField
          value={name}
          onChange={(next) => {
            fresh()
            setName(next)
          }}
        />
        <SwitchField
          label="Sensitive"
          hint="Never revealed by “Show values”; reveal it individually."
          checked={isSensitive}
          onChange={setSensitive}
        />
        {add.error && !isThere && add.error.issues.length === 0 && <ProblemView problem={add.error} />}
        <footer className="dialog-foot">
          <Button onClick={() => onOpenChange(false)}>Cancel</Button>
          <Button kind="primary" type="submit" busy={add.isPending}>
            Add
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
