import { limits } from '../../../server/contract/limits.ts'
import type { DatabaseDump } from '../../../server/contract/databases.ts'
import { type DumpTarget, useDumpDatabase, useRenameDump } from '../../api/databases.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { TextField } from '../../components/field.tsx'
import { Progress } from '../../components/progress.tsx'
import { formatDateTime } from '../../lib/format.ts'
import { useForm } from '../../lib/use-form.ts'

interface Props {
  slug: string
  onOpenChange: () => void
}

/** Creates a dump, with a name if the user gives one. */
export function CreateDumpDialog({ slug, service, onOpenChange }: Props & { service: DumpTarget | undefined }) {
  const dump = useDumpDatabase({ hidesErrorToast: true, successMessage: 'Dump created.', onSuccess: onOpenChange })
  const form = useForm({
    initial: { name: '' },
    submission: dump,
    onSubmit: ({ name }) => dump.mutate({ params: { slug }, query: { service: service?.name, name: name.trim() || undefined } }),
  })
  return (
    <Dialog open onOpenChange={onOpenChange} title="Create dump" description={`Saves ${service?.label ?? 'the database'} as one SQL file.`}>
      <form {...form.props} className="stack">
        <TextField {...nameField} {...form.text('name')} />
        {form.problem && <ProblemView problem={form.problem} />}
        {form.is_busy && <Progress label="Creating the dump" />}
        <footer className="dialog-footer">
          <Button onClick={onOpenChange}>Cancel</Button>
          <Button type="submit" kind="primary" busy={form.is_busy}>
            Create dump
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

export function RenameDumpDialog({ slug, dump, onOpenChange }: Props & { dump: DatabaseDump }) {
  const rename = useRenameDump({ hidesErrorToast: true, onSuccess: onOpenChange })
  const form = useForm({
    initial: { name: dump.name ?? '' },
    submission: rename,
    onSubmit: ({ name }) => rename.mutate({ params: { slug, id: dump.id }, body: { name: name.trim() || null } }),
  })
  return (
    <Dialog open onOpenChange={onOpenChange} title="Rename dump" description={`The dump from ${formatDateTime(dump.created_at)}.`}>
      <form {...form.props} className="stack">
        <TextField {...nameField} {...form.text('name')} />
        {form.problem && <ProblemView problem={form.problem} />}
        <footer className="dialog-footer">
          <Button onClick={onOpenChange}>Cancel</Button>
          <Button type="submit" kind="primary" busy={form.is_busy} disabled={!form.is_dirty}>
            Rename dump
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

const nameField = { label: 'Name (optional)', placeholder: 'Before the migration', maxLength: limits.name.max, autoComplete: 'off', autoFocus: true }
