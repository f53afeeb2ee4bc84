import { useQueryClient } from '@tanstack/react-query'
import type { BillingStatus } from '../../../server/contract/billing.ts'
import { useAction } from '../../api/actions.ts'
import { keys } from '../../api/keys.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ProblemView } from '../../ui/feedback.tsx'

export function CancelDialog({ billing, onClose }: { billing: BillingStatus; onClose: () => void }) {
  const cache = useQueryClient()
  const cancel = useAction('cancelBilling', {
    quiet: true,
    done: 'The subscription ends with the period that is paid.',
    onDone() {
      void cache.invalidateQueries({ queryKey: keys.billing })
      onClose()
    },
  })
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="End the subscription?"
      about={`${billing.plan} stays until the period that is paid is over; then the account goes to starter. Nothing is deleted, but what starter does not allow ends. Until then a plan can be chosen again.`}
    >
      {cancel.error && <ProblemView problem={cancel.error} />}
      <footer className="dialog-foot">
        <Button onClick={onClose}>Keep plan</Button>
        <Button kind="danger" busy={cancel.isPending} onClick={() => cancel.mutate({})}>
          End subscription
        </Button>
      </footer>
    </Dialog>
  )
}
