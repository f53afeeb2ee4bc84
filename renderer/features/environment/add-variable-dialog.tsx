import { type ClipboardEvent, type FormEvent, useState } from 'react'
import { useCreateEnvVars } from '../../api/env-vars.ts'
import { parseDotenv } from '../../../server/contract/dotenv.ts'
import { validateKey, validateValue } from '../../../server/contract/env-var-rules.ts'
import type { EnvVar } from '../../../server/contract/env-vars.ts'
import type { ApiResponse } from '../../api/api-client.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { SwitchField, TextField } from '../../components/field.tsx'
import { EnvironmentField } from './environment-field.tsx'
import { type EnvironmentName, environmentFromName, environmentLabel } from '../../lib/environments.ts'
import { ValueField } from './value-field.tsx'

/** Adds one variable. A .env file pasted into the first field opens the import dialog. */
export function AddVariableDialog({
  slug,
  existing,
  initialKey,
  onOpenChange,
  onAdded,
  onFile,
}: {
  slug: string
  existing: readonly EnvVar[]
  /** The key, if the missing variable is known. */
  initialKey: string
  onOpenChange: (open: boolean) => void
  onAdded: (answer: ApiResponse<'createEnvVars'>) => void
  onFile: (text: string) => void
}) {
  const [key, setKey] = useState(initialKey)
  const [value, setValue] = useState('')
  const [name, setName] = useState<EnvironmentName>('both')
  const [isSensitive, setSensitive] = useState(false)
  const [hasSubmitted, setSubmitted] = useState(false)
  const environment = environmentFromName(name)
  const sent = { key, value, environment, is_sensitive: isSensitive }
  const add = useCreateEnvVars({ hidesErrorToast: true, onSuccess: onAdded })
  const alreadyExists = add.error?.code === 'env_vars_exist' || existing.some((one) => one.key === key && one.environment === environment)
  const existsMessage = `${key} already exists for ${environmentLabel(environment)}. Change its value in the list.`
  const keyError = alreadyExists
    ? existsMessage
    : (add.error?.issueFor('key') ?? (hasSubmitted && key === '' ? 'Enter a key.' : key === '' ? undefined : validateKey(key)))
  const valueError = add.error?.issueFor('value') ?? validateValue(value)

  const submit = (event: FormEvent) => {
    event.preventDefault()
    setSubmitted(true)
    if (key === '' || keyError !== undefined || valueError !== undefined || add.isPending) return
    add.mutate({ params: { slug }, body: sent })
  }
  const paste = (event: ClipboardEvent) => {
    const text = event.clipboardData.getData('text')
    if (!text.includes('=')) return
    const entries = parseDotenv(text)
    const [only] = entries
    if (!only) return
    event.preventDefault()
    if (entries.length > 1) onFile(text)
    else {
      setKey(only.key)
      setValue(only.value)
    }
  }
  const clearError = () => add.error && add.reset()
  return (
    <Dialog open onOpenChange={onOpenChange} title="Add variable" description="You can also paste a whole .env file into the first field.">
      <form className="stack" onSubmit={submit} noValidate>
        <TextField
          label="Key"
          mono
          required
          autoCapitalize="off"
          value={key}
          onPaste={paste}
          onChange={({ target }) => {
            clearError()
            setKey(target.value.trim())
          }}
          placeholder="DATABASE_URL"
          error={keyError}
        />
        <ValueField
          label="Value"
          value={value}
          onChange={({ target }) => {
            clearError()
            setValue(target.value)
          }}
          error={valueError}
          hint="Can be empty or span several lines."
        />
        <EnvironmentField
          value={name}
          onChange={(next) => {
            clearError()
            setName(next)
          }}
        />
        <SwitchField
          label="Sensitive"
          hint="Never revealed by “Show values”; reveal it individually."
          checked={isSensitive}
          onChange={setSensitive}
        />
        {add.error && !alreadyExists && add.error.issues.length === 0 && <ProblemView problem={add.error} />}
        <footer className="dialog-footer">
          <Button onClick={() => onOpenChange(false)}>Cancel</Button>
          <Button kind="primary" type="submit" busy={add.isPending}>
            Add variable
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
