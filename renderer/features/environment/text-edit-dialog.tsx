import { useMemo, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { type EnvironmentName, environmentFromName } from '../../lib/environments.ts'
import { useForm } from '../../lib/use-form.ts'
import { type ChangeSet, countChanges, type StagedVariable } from './change-set.ts'
import { EnvironmentField } from './environment-field.tsx'
import { formatVariables, hiddenValue, planTextEdit } from './text-edit.ts'
import { ValueField } from './value-field.tsx'

/** All variables of an environment in one text field. */
export function TextEditDialog({
  variables,
  onOpenChange,
  onEdited,
}: {
  variables: readonly StagedVariable[]
  onOpenChange: (open: boolean) => void
  onEdited: (edit: ChangeSet) => void
}) {
  const [name, setName] = useState<EnvironmentName>('both')
  const environment = environmentFromName(name)
  const own = useMemo(() => variables.filter((one) => one.environment === environment && one.change !== 'deleted'), [variables, environment])
  const initial = useMemo(() => formatVariables(own), [own])
  const form = useForm<{ text: string }>({
    initial: { text: initial },
    onSubmit: () => edit.problems.length === 0 && onEdited(edit),
  })
  const edit = useMemo(() => planTextEdit(form.values.text, environment, own), [form.values.text, environment, own])
  const count = countChanges(edit)
  const parts = [
    ['added', edit.create.length],
    ['changed', Object.keys(edit.update).length],
    ['deleted', edit.delete.length],
  ] as const
  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title="Edit as text"
      description={`One KEY=value per line, as in a .env file. ${hiddenValue} keeps a value that is not shown.`}
    >
      <form className="stack" {...form.props}>
        <EnvironmentField
          value={name}
          onChange={(next) => {
            form.discard()
            setName(next)
          }}
        />
        <ValueField
          label="Variables"
          rows={14}
          {...form.text('text')}
          error={edit.problems.length > 0 ? edit.problems.slice(0, 3).join(' ') : undefined}
          hint={
            count === 0
              ? 'No changes.'
              : `${parts
                  .filter(([, size]) => size > 0)
                  .map(([word, size]) => `${size} ${word}`)
                  .join(', ')}.`
          }
        />
        <footer className="dialog-footer">
          <Button onClick={() => onOpenChange(false)}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={count === 0 || edit.problems.length > 0}>
            Apply changes
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
