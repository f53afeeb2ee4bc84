import { useState } from 'react'
import { useForm } from '../../lib/use-form.ts'
import { validateValue } from '../../../server/contract/env-var-rules.ts'
import type { EnvVarChange } from '../../../server/contract/env-vars.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { environmentLabel } from '../../lib/environments.ts'
import type { StagedVariable } from './change-set.ts'
import { ExposureFields } from './exposure-fields.tsx'
import { ValueField } from './value-field.tsx'

/** Edits the value; key and environment are fixed. A sensitive value is not revealed for editing. */
export function EditVariableDialog({
  variable,
  onOpenChange,
  onChanged,
}: {
  variable: StagedVariable
  onOpenChange: (open: boolean) => void
  onChanged: (change: EnvVarChange) => void
}) {
  const form = useForm({
    initial: {
      value: variable.value,
      is_sensitive: variable.is_sensitive,
      is_write_only: variable.is_write_only,
      is_build_secret: variable.is_build_secret,
    },
    onSubmit() {
      const { is_write_only, ...changes } = form.changes
      onChanged({ ...changes, ...(is_write_only === true && { is_write_only }) })
    },
    check: ({ value }) => ({ value: validateValue(value) }),
  })
  const [isTyped, setTyped] = useState(false)
  const isHidden = variable.is_sensitive && variable.change === null && !isTyped
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
          hint="Takes effect with the deployment after saving."
        />
        <ExposureFields values={form.values} onChange={form.set} isFixed={variable.is_write_only} />
        <footer className="dialog-footer">
          <Button onClick={() => onOpenChange(false)}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={!form.is_dirty}>
            Change
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
