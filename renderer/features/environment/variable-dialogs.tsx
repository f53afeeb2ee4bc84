import { type FormEvent, useState } from 'react'
import { useDeleteEnvVar, useUpdateEnvVar } from '../../api/env-vars.ts'
import { validateValue } from '../../../server/contract/env-var-rules.ts'
import type { EnvVar } from '../../../server/contract/env-vars.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { SwitchField } from '../../components/field.tsx'
import { environmentLabel } from '../../lib/environments.ts'
import { ValueField } from './value-field.tsx'

interface Props {
  slug: string
  variable: EnvVar
  onOpenChange: (open: boolean) => void
}

/** Edits the value; key and environment are fixed. A sensitive value is not revealed for editing. */
export function EditVariableDialog({ slug, variable, onOpenChange, onChanged }: Props & { onChanged: () => void }) {
  const [typed, setTyped] = useState<string | null>(null)
  const [isSensitive, setSensitive] = useState(variable.is_sensitive)
  const change = useUpdateEnvVar({ hidesErrorToast: true, onSuccess: onChanged })
  const isHidden = variable.is_sensitive && typed === null
  const value = typed ?? variable.value
  const error = change.error?.issueFor('value') ?? validateValue(value)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (error !== undefined || change.isPending) return
    change.mutate({ params: { slug, id: variable.id }, body: { value, is_sensitive: isSensitive } })
  }
  return (
    <Dialog open onOpenChange={onOpenChange} title={`Edit ${variable.key}`} description={`For ${environmentLabel(variable.environment)}.`}>
      <form className="stack" onSubmit={submit}>
        <ValueField
          label="Value"
          value={isHidden ? '' : value}
          placeholder={isHidden ? 'Hidden; leave empty to keep it' : ''}
          onChange={({ target }) => {
            if (change.error) change.reset()
            setTyped(target.value)
          }}
          error={error}
          hint="Takes effect with the next deployment."
        />
        <SwitchField
          label="Sensitive"
          hint="Never revealed by “Show values”; reveal it individually."
          checked={isSensitive}
          onChange={setSensitive}
        />
        {change.error && change.error.issues.length === 0 && <ProblemView problem={change.error} />}
        <footer className="dialog-footer">
          <Button onClick={() => onOpenChange(false)}>Cancel</Button>
          <Button
            kind="primary"
            type="submit"
            busy={change.isPending}
            disabled={(typed === null || typed === variable.value) && isSensitive === variable.is_sensitive}
          >
            Save
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

export function DeleteVariableDialog({ slug, variable, onOpenChange, onDeleted }: Props & { onDeleted: () => void }) {
  const remove = useDeleteEnvVar({ hidesErrorToast: true, onSuccess: onDeleted })
  const affectsProduction = variable.environment !== 'preview'
  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title={`Delete ${variable.key}?`}
      description={`Permanently deletes it from ${environmentLabel(variable.environment)}. ${
        affectsProduction ? 'Production is redeployed without it.' : 'Previews lose it with their next deployment.'
      }`}
    >
      {remove.error && <ProblemView problem={remove.error} />}
      <footer className="dialog-footer">
        <Button onClick={() => onOpenChange(false)}>Cancel</Button>
        <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate({ params: { slug, id: variable.id } })}>
          Delete variable
        </Button>
      </footer>
    </Dialog>
  )
}
