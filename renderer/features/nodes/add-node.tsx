import { useState } from 'react'
import { formatJoinCommand } from '../../../server/contract/join-command.ts'
import type { ClusterNode } from '../../../server/contract/nodes.ts'
import { useCreateJoinToken } from '../../api/nodes.ts'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { SegmentedControl } from '../../components/segmented-control.tsx'

const roles = [
  { value: 'worker', text: 'Worker' },
  { value: 'manager', text: 'Manager' },
] as const

/** The command that a machine runs to join the cluster. */
export function AddNodeDialog({ onClose }: { onClose: () => void }) {
  const [role, setRole] = useState<ClusterNode['role']>('worker')
  const token = useCreateJoinToken({ hidesErrorToast: true })
  const command = token.data && formatJoinCommand(token.data)
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Add a node"
      description="Three managers keep the cluster working when one is lost. Workers only run apps."
    >
      <div className="stack">
        <SegmentedControl
          label="Role"
          value={role}
          choices={roles}
          onChange={(next) => {
            setRole(next)
            token.reset()
          }}
        />
        {command === undefined ? (
          <p className="text-muted">The command contains a secret: who has it can add a machine that receives apps and their variables.</p>
        ) : (
          <>
            <p>Run this on the machine that joins, which needs Docker and Node:</p>
            <p className="secret">
              <code>{command}</code>
              <CopyButton text={command} label="Copy command" />
            </p>
          </>
        )}
        {token.error && <ProblemView problem={token.error} />}
        <HelpLink topic="cluster">What a node needs</HelpLink>
      </div>
      <footer className="dialog-footer">
        {command === undefined ? (
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Button kind="primary" busy={token.isPending} onClick={() => token.mutate({ body: { role } })}>
              Show command
            </Button>
          </>
        ) : (
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        )}
      </footer>
    </Dialog>
  )
}
