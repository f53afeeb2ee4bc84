import { useState } from 'react'
import { useForm } from '../../lib/use-form.ts'
import { useDeleteEnvVar, useUpdateEnvVar } from '../../api/env-vars.ts'
import { validateValue } from '../../../server/contract/env-var-rules.ts'
import type { ProjectEnvVar } from '../../../server/contract/env-vars.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { environmentLabel } from '../../lib/environments.ts'
import { ExposureFields } from './exposure-fields.tsx'
import { ValueField } from './value-field.tsx'

interface Props {
  slug: string
  variable: ProjectEnvVar
  onOpenChange: (open: boolean) => void
}

/** Edits the value; key and environment are fixed. A sensitive value is not revealed for editing. */
export function EditVariableDialog({ slug, variable, onOpenChange, onChanged }: Props & { onChanged: () => void }) {
  const change = useUpdateEnvVar({ hidesErrorToast: true, onSuccess: onChanged })
  const form = useForm({
    initial: {
      value: variable.value,
      is_sensitive: variable.is_sensitive,
      is_write_only: variable.is_write_only,
      is_build_secret: variable.is_build_secret,
    },
    submission: change,
    onSubmit() {
      const { is_write_only, ...changes } = form.changes
      change.mutate(slug, variable, { ...changes, ...(is_write_only === true && { is_write_only }) })
    },
    check: ({ value }) => ({ value: validateValue(value) }),
  })
  const [isTyped, setTyped] = useState(false)
  const isHidden = variable.is_sensitive && !isTyped
  const valueField = form.text('value')
  return (
    <Dialog open onOpenChange={onOpenChange} title={`Edit ${variable.key}`} description={`For ${environmentLabel(variable.environment)}.`}>
      <form className="stack" {...form.props}>
        <ValueField
          label="Value"
          {...valueField}
          value={isHidden ? '' : valueField.value}
          placeholder={isHidden ? 'Hidden; leave empty to keep it' : ''}
          onChange={(event) => {
            setTyped(true)
            valueField.onChange(event)
          }}
          hint="Takes effect with the next deployment."
        />
        <ExposureFields values={form.values} onChange={form.set} isFixed={variable.is_write_only} />
        {form.problem && <ProblemView problem={form.problem} />}
        <footer className="dialog-footer">
          <Button onClick={() => onOpenChange(false)}>Cancel</Button>
          <Button kind="primary" type="submit" busy={form.is_busy} disabled={!form.is_dirty}>
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
