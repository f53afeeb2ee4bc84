import { CircleArrowUp } from 'lucide-react'
import { useState } from 'react'
import type { ApiError } from '../../../server/client/api-error.ts'
import type { DatabaseUpgrade } from '../../../server/contract/database-upgrades.ts'
import { useDatabaseUpgrade, useFinishUpgrade, useRevertUpgrade, useUpgradeDatabase } from '../../api/database-upgrades.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { Progress } from '../../components/progress.tsx'
import styles from './page.module.css'

type Action = 'upgrade' | 'revert' | 'finish'

/** The upgrade to a newer major version, and the data from before it. Hidden if neither exists. */
export function UpgradeDatabase({ slug, onRedeploying }: { slug: string; onRedeploying: (deploymentId: string | null) => void }) {
  const { data } = useDatabaseUpgrade(slug)
  const [action, setAction] = useState<Action | null>(null)
  const close = () => setAction(null)
  const onChanged = ({ deployment_id }: { deployment_id: string | null }) => {
    onRedeploying(deployment_id)
    close()
  }
  const mutations = {
    upgrade: useUpgradeDatabase({ hidesErrorToast: true, successMessage: 'Database upgraded.', onSuccess: onChanged }),
    revert: useRevertUpgrade({ hidesErrorToast: true, successMessage: 'The data from before the upgrade is back.', onSuccess: onChanged }),
    finish: useFinishUpgrade({ hidesErrorToast: true, successMessage: 'Old data deleted.', onSuccess: close }),
  }
  if (!data || (data.upgrade_to === null && data.previous_version === null)) return null
  const mutation = action === null ? null : mutations[action]
  const cancel = () => {
    if (mutation?.isPending) return
    mutation?.reset()
    close()
  }
  return (
    <section className="card" aria-labelledby="upgrade">
      <header className="card-header">
        <h2 id="upgrade">{data.upgrade_to === null ? `Upgraded to PostgreSQL ${data.version}` : `Upgrade to PostgreSQL ${data.upgrade_to}`}</h2>
        <HelpLink topic="databases">How upgrades work</HelpLink>
      </header>
      <UpgradeActions upgrade={data} onAction={setAction} />
      {action !== null && mutation && (
        <ActionDialog
          action={action}
          upgrade={data}
          isPending={mutation.isPending}
          error={mutation.error}
          onCancel={cancel}
          onConfirm={() => mutation.mutate({ params: { slug } })}
        />
      )}
    </section>
  )
}

function UpgradeActions({ upgrade, onAction }: { upgrade: DatabaseUpgrade; onAction: (action: Action) => void }) {
  if (upgrade.is_upgrading)
    return (
      <div className="card-body">
        <Progress label="Copying the database to the new server" />
      </div>
    )
  return (
    <div className={`card-body ${styles.dbDrop}`}>
      {upgrade.upgrade_to === null ? (
        <>
          <p className="text-muted">
            The data on PostgreSQL {upgrade.previous_version} is kept as it was before the upgrade. Delete it when the app works on the new version.
          </p>
          <span className={styles.dbUpgradeActions}>
            <Button onClick={() => onAction('revert')}>Go back…</Button>
            <Button kind="danger" onClick={() => onAction('finish')}>
              Delete old data…
            </Button>
          </span>
        </>
      ) : (
        <>
          <p className="text-muted">
            This database is on PostgreSQL {upgrade.version}. An upgrade copies it to a new server, and keeps the old data until you delete it. The
            app cannot connect while the data is copied.
          </p>
          <Button icon={CircleArrowUp} onClick={() => onAction('upgrade')}>
            Upgrade database…
          </Button>
        </>
      )}
    </div>
  )
}

function ActionDialog({
  action,
  upgrade: { version, upgrade_to, previous_version },
  isPending,
  error,
  onCancel,
  onConfirm,
}: {
  action: Action
  upgrade: DatabaseUpgrade
  isPending: boolean
  error: ApiError | null
  onCancel: () => void
  onConfirm: () => void
}) {
  const texts = {
    upgrade: {
      title: `Upgrade to PostgreSQL ${upgrade_to}?`,
      description: `Copies all data to PostgreSQL ${upgrade_to} and compares it, then redeploys the app. The app cannot connect during the copy. If anything fails, the database is not changed.`,
      button: 'Upgrade database',
      progress: 'Copying and comparing the data',
    },
    revert: {
      title: `Go back to PostgreSQL ${previous_version}?`,
      description: `The app gets the data from before the upgrade. Changes since then are saved in a dump, which is listed on this page.`,
      button: `Go back to PostgreSQL ${previous_version}`,
      progress: 'Saving a dump, then going back',
    },
    finish: {
      title: `Delete the data on PostgreSQL ${previous_version}?`,
      description: `The database on PostgreSQL ${version} stays. You can no longer go back to the data from before the upgrade.`,
      button: 'Delete old data',
      progress: 'Deleting the old data',
    },
  }[action]
  return (
    <Dialog open onOpenChange={onCancel} title={texts.title} description={texts.description}>
      {isPending && <Progress label={texts.progress} />}
      {error && <ProblemView problem={error} />}
      <footer className="dialog-footer">
        <Button onClick={onCancel}>Cancel</Button>
        <Button kind={action === 'upgrade' ? 'primary' : 'danger'} busy={isPending} onClick={onConfirm}>
          {texts.button}
        </Button>
      </footer>
    </Dialog>
  )
}
