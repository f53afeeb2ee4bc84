import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { ManagedService } from '../../../server/contract/managed-services.ts'
import { useAddManagedService, useManagedServices, useRemoveManagedService } from '../../api/managed-services.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { DeploymentStatusCard, redeployMessages } from '../deployments/index.ts'
import { ServiceDumps } from './service-dumps.tsx'
import styles from './services.module.css'

/** Services that a project gets with a click. Hidden on an instance without support. */
export function ManagedServices({ slug }: { slug: string }) {
  const { data } = useManagedServices(slug)
  const [startedId, setStartedId] = useState<string | null>(null)
  const [removed, setRemoved] = useState<ManagedService | null>(null)
  if (!data) return null
  return (
    <>
      {startedId !== null && (
        <DeploymentStatusCard slug={slug} id={startedId} onDismiss={() => setStartedId(null)} messages={redeployMessages('the changed services')} />
      )}
      <section className="card" aria-labelledby="managed-services">
        <header className="card-header">
          <h2 id="managed-services">Managed services</h2>
          <HelpLink topic="managed-services">How they work</HelpLink>
        </header>
        {data.unavailable !== null && <p className="card-body text-muted">{data.unavailable}</p>}
        <ul data-rows>
          {data.services.map((service) => (
            <ManagedServiceRow
              key={service.name}
              slug={slug}
              service={service}
              isAvailable={data.unavailable === null}
              onAdded={setStartedId}
              onRemove={() => setRemoved(service)}
            />
          ))}
        </ul>
      </section>
      {data.services.map((service) => (
        <ServiceDumps key={service.name} slug={slug} service={service} />
      ))}
      {removed && <RemoveDialog slug={slug} service={removed} onClose={() => setRemoved(null)} onRemoved={setStartedId} />}
    </>
  )
}

function ManagedServiceRow({
  slug,
  service: { name, label, summary, variables, is_added, has_data },
  isAvailable,
  onAdded,
  onRemove,
}: {
  slug: string
  service: ManagedService
  isAvailable: boolean
  onAdded: (deploymentId: string | null) => void
  onRemove: () => void
}) {
  const add = useAddManagedService({ successMessage: `Added ${label}.`, onSuccess: ({ deployment_id }) => onAdded(deployment_id) })
  return (
    <li className={`card-row ${styles.managed}`}>
      <div className={styles.serviceName}>
        <strong>{label}</strong>
      </div>
      <div className={styles.serviceFacts}>
        <span>{summary}</span>
        <span className="text-subtle">
          Apps get <code>{variables[0]}</code> and its parts.
          {has_data && ' Its data was kept and is used again when you add it.'}
        </span>
      </div>
      <div className={styles.serviceActions}>
        {is_added ? (
          <Button aria-label={`Remove ${label}`} onClick={onRemove}>
            Remove
          </Button>
        ) : (
          <Button
            icon={Plus}
            aria-label={`Add ${label}`}
            busy={add.isPending}
            disabled={!isAvailable}
            onClick={() => add.mutate({ params: { slug }, body: { name } })}
          >
            Add
          </Button>
        )}
      </div>
    </li>
  )
}

function RemoveDialog({
  slug,
  service: { name, label, variables },
  onClose,
  onRemoved,
}: {
  slug: string
  service: ManagedService
  onClose: () => void
  onRemoved: (deploymentId: string | null) => void
}) {
  const remove = useRemoveManagedService({
    successMessage: `Removed ${label}.`,
    onSuccess({ deployment_id }) {
      onRemoved(deployment_id)
      onClose()
    },
  })
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Remove ${label}?`}
      description={`The project is redeployed without ${label}, and its apps no longer get ${variables[0]}. The data is kept until the project is deleted.`}
    >
      <footer className="dialog-footer">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate({ params: { slug, name } })}>
          Remove {label}
        </Button>
      </footer>
    </Dialog>
  )
}
