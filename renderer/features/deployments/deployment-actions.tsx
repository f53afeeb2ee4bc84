import { CircleStop, DatabaseZap, Download, Ellipsis, ExternalLink, History, RotateCw, Send } from 'lucide-react'
import { useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { useCancelDeployment, useCreateDeployment, useRetryDeployment } from '../../api/deployments.ts'
import type { Deployment } from '../../../server/contract/deployments.ts'
import { actionLabels } from '../../../server/contract/labels.ts'
import { Button, ButtonLink, IconButton } from '../../components/button.tsx'
import { Menu, MenuItem } from '../../components/menu.tsx'
import { useCapabilities, usePromotionTargets } from '../../api/capabilities.ts'
import { isTerminal } from '../../lib/deployment-progress.ts'
import { RollbackConfirmDialog } from './rollback-confirm-dialog.tsx'

/** Cancel while it runs; afterwards redeploy, roll back and open. */
export function DeploymentActions({ slug, deployment }: { slug: string; deployment: Deployment }) {
  const [, navigate] = useLocation()
  const input = { params: { slug, id: deployment.id } }
  const openDeployment = { onSuccess: ({ deployment_id }: { deployment_id: string }) => navigate(`/projects/${slug}/deployments/${deployment_id}`) }
  const cancel = useCancelDeployment({ successMessage: 'Deployment canceled.' })
  const retry = useRetryDeployment(openDeployment)
  const rebuild = useCreateDeployment(openDeployment)
  const { has_instance_api } = useCapabilities()
  const [isRollingBack, setRollingBack] = useState(false)
  const ended = isTerminal(deployment.status)
  const [, setParams] = useSearchParams()
  const promotionTargets = usePromotionTargets()
  const isPromotable = deployment.status === 'ready' && deployment.target === 'production'

  return (
    <div className="page-actions">
      {!ended && (
        <Button icon={CircleStop} busy={cancel.isPending} onClick={() => cancel.mutate(input)}>
          {actionLabels.cancel}
        </Button>
      )}
      {ended && (
        <Button icon={RotateCw} busy={retry.isPending} onClick={() => retry.mutate(input)}>
          {actionLabels.retry}
        </Button>
      )}
      {ended && deployment.can_rollback && !deployment.is_current && (
        <Button icon={History} onClick={() => setRollingBack(true)}>
          {actionLabels.rollback}…
        </Button>
      )}
      {isPromotable && promotionTargets.promote && (
        <Button icon={Send} onClick={() => setParams({ do: 'promote', deployment: deployment.id })}>
          {actionLabels.promote}…
        </Button>
      )}
      {isPromotable && promotionTargets.pull && (
        <Button icon={Download} onClick={() => setParams({ do: 'pull', deployment: deployment.id })}>
          Pull…
        </Button>
      )}
      {deployment.is_current && deployment.url && (
        <ButtonLink href={deployment.url} icon={ExternalLink} kind="primary">
          Open
        </ButtonLink>
      )}
      {ended && has_instance_api && (
        <Menu trigger={<IconButton icon={Ellipsis} label="Build options" />}>
          <MenuItem
            icon={DatabaseZap}
            disabled={rebuild.isPending}
            onSelect={() => rebuild.mutate({ params: { slug }, body: { deployment_id: deployment.id, no_cache: true } })}
          >
            Redeploy without cache
          </MenuItem>
        </Menu>
      )}
      {isRollingBack && <RollbackConfirmDialog slug={slug} deployment={deployment} onClose={() => setRollingBack(false)} />}
    </div>
  )
}
