import { Plus, Scale, Server } from 'lucide-react'
import { useState } from 'react'
import type { ClusterNode } from '../../../server/contract/nodes.ts'
import type { Standby } from '../../../server/contract/standbys.ts'
import { useBalanceNodes, useNodes, useStandbys } from '../../api/nodes.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { formatBytes } from '../../lib/format.ts'
import { toApiError } from '../../lib/api-error.ts'
import { useTitle } from '../../lib/use-title.ts'
import { OwnerPage } from '../instance/index.ts'
import { AddNodeDialog } from './add-node.tsx'
import { NodeCard } from './node-card.tsx'
import styles from './page.module.css'

/** The nodes of the cluster and what runs on each. */
export default function NodesPage() {
  useTitle('Nodes')
  return (
    <OwnerPage deniedMessage="Only the instance owner can see nodes.">
      <Nodes />
    </OwnerPage>
  )
}

function Nodes() {
  const { data: nodes, error, isPending, refetch } = useNodes()
  const { data: standbys = [], isPending: isPendingStandbys } = useStandbys()
  const [isAdding, setAdding] = useState(false)
  const balance = useBalanceNodes({
    successMessage: ({ moved }) =>
      moved === 0 ? 'The replicas are spread as evenly as they can be.' : `Moved ${moved} ${moved === 1 ? 'replica' : 'replicas'}.`,
  })
  // Both render together, because standbys are above the nodes.
  if (isPending || isPendingStandbys) return <SkeletonRows rows={3} height={160} />
  if (nodes?.length === 0)
    return (
      <EmptyState isPage icon={Server} title="Apps run on this machine">
        Connect this instance to a cluster to run them on several. <HelpLink topic="cluster">How it works</HelpLink>
      </EmptyState>
    )
  return (
    <>
      {error && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
      {nodes && (
        <>
          <div className={styles.summary}>
            <div>
              <p className="text-muted">{summarize(nodes)}</p>
              {standbys.map((one) => (
                <p key={one.name} className="text-muted">
                  {describeStandby(one)}
                </p>
              ))}
            </div>
            <div className="row">
              <Button icon={Scale} busy={balance.isPending} onClick={() => balance.mutate({})}>
                Balance
              </Button>
              <Button kind="primary" icon={Plus} onClick={() => setAdding(true)}>
                Add a node
              </Button>
            </div>
          </div>
          <ul className={styles.map} aria-label="Nodes">
            {nodes.map((node) => (
              <NodeCard key={node.id} node={node} />
            ))}
          </ul>
        </>
      )}
      {isAdding && <AddNodeDialog onClose={() => setAdding(false)} />}
    </>
  )
}

function describeStandby({ name, is_synced, behind_bytes, takes_over }: Standby): string {
  if (!is_synced) return `The standby on ${name} is ${formatBytes(behind_bytes)} behind.`
  return `The standby on ${name} is in step${takes_over ? ', and leads if this instance stops responding' : ''}.`
}

function summarize(nodes: readonly ClusterNode[]): string {
  const managers = nodes.filter(({ role }) => role === 'manager')
  const ready = managers.filter(({ is_ready }) => is_ready).length
  const replicas = nodes.reduce((sum, node) => sum + node.replicas.length, 0)
  const fatal = Math.max(1, ready - Math.floor(managers.length / 2))
  const quorum = fatal === 1 ? 'If one more manager stops' : `If ${fatal} more managers stop`
  return `${count(replicas, 'replica')} on ${count(nodes.length, 'node')}, ${ready} of ${count(managers.length, 'manager')} ready. ${nodes.length > 1 ? `${quorum}, nothing is deployed or repaired.` : ''}`.trim()
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
