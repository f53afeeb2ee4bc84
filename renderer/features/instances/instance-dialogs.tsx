import { useForm } from '../../lib/use-form.ts'
import { useDeleteRemote, useUpdateRemote } from '../../api/remotes.ts'
import { type InstanceConnection } from '../../stores/connection.ts'
import { useUi } from '../../stores/ui.ts'
import { Button } from '../../components/button.tsx'
import { Dialog, ConfirmByNameDialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { TextField } from '../../components/field.tsx'
import { hostLabel } from '../../lib/instance-path.ts'
import { HueField, TokenField } from './remote-fields.tsx'
import { useTokenForm } from './use-token-form.ts'

interface Props {
  connection: InstanceConnection
  onClose: () => void
}

export function EditInstanceDialog({ connection: { id, ...current }, onClose }: Props) {
  const change = useUpdateRemote({ hidesErrorToast: true, onSuccess: onClose })
  const form = useForm({
    initial: { name: current.name, hue: current.hue },
    submission: change,
    onSubmit: ({ name, hue }) => change.mutate({ params: { id }, body: { name: name.trim(), hue } }),
  })
  return (
    <Dialog open onOpenChange={onClose} title="Name and color" description={`For ${hostLabel(current.origin)}, only in this dashboard.`}>
      <form className="stack" {...form.props}>
        <TextField label="Name" required maxLength={60} {...form.text('name')} />
        <HueField value={form.values.hue} onChange={(hue) => form.set({ hue })} />
        {form.problem && <ProblemView problem={form.problem} />}
        <footer className="dialog-footer">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={form.is_busy}>
            Save
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

export function ReplaceTokenDialog({ connection, onClose }: Props) {
  const form = useTokenForm(connection, () => {
    useUi.getState().showToast({ kind: 'done', text: `New token saved for ${connection.name}.`, request_id: null })
    onClose()
  })
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="New token"
      description={`For ${connection.name} at ${hostLabel(connection.origin)}. It is verified before it replaces the current one.`}
    >
      <form className="stack" {...form.props}>
        <TokenField {...form.text('token')} />
        {form.problem && <ProblemView problem={form.problem} />}
        <footer className="dialog-footer">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={form.is_busy}>
            Save
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

export function RemoveInstanceDialog({ connection: { id, name, origin }, onClose }: Props) {
  const remove = useDeleteRemote({ hidesErrorToast: true, successMessage: `${name} was removed from this dashboard.`, onSuccess: onClose })
  return (
    <ConfirmByNameDialog
      open
      onOpenChange={onClose}
      title={`Remove ${name}?`}
      description={`Removes ${hostLabel(origin)}, its name, color and token from this dashboard. The instance itself does not change: its projects keep running, and the token works until you revoke it there.`}
      name={name}
      action="Remove instance"
      busy={remove.isPending}
      onConfirm={() => remove.mutate({ params: { id } })}
    >
      {remove.error && <ProblemView problem={remove.error} />}
    </ConfirmByNameDialog>
  )
}
