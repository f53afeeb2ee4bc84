import { type ClipboardEvent } from 'react'
import { useForm } from '../../lib/use-form.ts'
import { parseDotenv } from '../../../server/contract/dotenv.ts'
import { validateKey, validateValue } from '../../../server/contract/env-var-rules.ts'
import type { NewProjectEnvVar } from '../../../server/contract/env-vars.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { isSecretName, type StagedVariable } from './change-set.ts'
import { EnvironmentField } from './environment-field.tsx'
import { type Exposure, ExposureFields } from './exposure-fields.tsx'
import { type EnvironmentName, environmentFromName, environmentLabel } from '../../lib/environments.ts'
import { ValueField } from './value-field.tsx'

/** Adds one variable to the changes. A .env file pasted into the first field opens the import dialog. */
export function AddVariableDialog({
  existing,
  initialKey,
  onOpenChange,
  onAdded,
  onFile,
}: {
  existing: readonly StagedVariable[]
  /** The key, if the missing variable is known. */
  initialKey: string
  onOpenChange: (open: boolean) => void
  onAdded: (added: NewProjectEnvVar) => void
  onFile: (text: string) => void
}) {
  const form = useForm<{ key: string; value: string; name: EnvironmentName } & Omit<Exposure, 'is_sensitive'> & { is_sensitive: boolean | null }>({
    // Names of secrets are sensitive until the user decides otherwise.
    initial: { key: initialKey, value: '', name: 'both', is_sensitive: null, is_write_only: false, is_build_secret: false },
    onSubmit: ({ name, ...variable }) =>
      onAdded({ ...variable, is_sensitive: variable.is_sensitive ?? isSecretName(variable.key), environment: environmentFromName(name) }),
    check({ key, value, name }, wasSubmitted) {
      const environment = environmentFromName(name)
      const alreadyExists = existing.some((one) => one.key === key && one.environment === environment && one.change !== 'deleted')
      const keyError = key === '' ? (wasSubmitted ? 'Enter a key.' : undefined) : validateKey(key)
      return {
        key: alreadyExists ? `${key} already exists for ${environmentLabel(environment)}. Change its value in the list.` : keyError,
        value: validateValue(value),
      }
    },
  })
  const paste = (event: ClipboardEvent) => {
    const text = event.clipboardData.getData('text')
    if (!text.includes('=')) return
    const entries = parseDotenv(text)
    const [only] = entries
    if (!only) return
    event.preventDefault()
    if (entries.length > 1) onFile(text)
    else form.set({ key: only.key, value: only.value })
  }
  return (
    <Dialog open onOpenChange={onOpenChange} title="Add variable" description="You can also paste a whole .env file into the first field.">
      <form className="stack" {...form.props} noValidate>
        <TextField
          label="Key"
          mono
          required
          autoCapitalize="off"
          {...form.text('key', (text) => text.trim())}
          onPaste={paste}
          placeholder="DATABASE_URL"
        />
        <ValueField label="Value" {...form.text('value')} hint="Can be empty or span several lines." />
        <EnvironmentField value={form.values.name} onChange={(name) => form.set({ name })} />
        <ExposureFields values={{ ...form.values, is_sensitive: form.values.is_sensitive ?? isSecretName(form.values.key) }} onChange={form.set} />
        <footer className="dialog-footer">
          <Button onClick={() => onOpenChange(false)}>Cancel</Button>
          <Button kind="primary" type="submit">
            Add variable
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
