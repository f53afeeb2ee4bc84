import { ArrowRight, RotateCw, X } from 'lucide-react'
import { useLocation } from 'wouter'
import { instanceBasePath } from '../../lib/instance-path.ts'
import { reportOutcomeLabels, type PromotionReportLine } from '../../../server/client/promotion/report.ts'
import type { PromotionStepName } from '../../../server/client/promotion/request.ts'
import { type Promotion, usePromotions } from '../../stores/promotions.ts'
import { Button } from '../../components/button.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { formatBytes } from '../../lib/format.ts'
import { Progress } from '../../components/progress.tsx'
import { StatusIcon, type StatusBadgeData, stepBadge } from '../../components/status.tsx'
import { formatTransfer } from '../../api/transfer-progress.ts'
import styles from './promotion.module.css'

/** Promotions in progress, shown on every page. */
export default function Promotions() {
  const promotions = usePromotions((state) => state.promotions)
  return (
    <div className={styles.promotions}>
      {promotions.map((one) => (
        <PromotionCard key={one.key} promotion={one} />
      ))}
    </div>
  )
}

function PromotionCard({ promotion }: { promotion: Promotion }) {
  const { from, to, state, steps, transfer, problem, deployment_id } = promotion
  const remove = usePromotions((store) => store.remove)
  const [, navigate] = useLocation()
  const running = steps.find((step) => step.state === 'running')
  const failed = steps.find((step) => step.state === 'failed')
  const done = steps.filter((step) => step.state === 'done')
  return (
    <section className={`card ${styles.promotion}`} aria-label={`${from.slug} to ${to.name}`}>
      <header className={styles.promotionHead}>
        <h2 className="truncate">
          {from.slug} <span className="text-subtle">from {from.name}</span> <ArrowRight size={14} aria-label="to" /> {to.name}
        </h2>
        <div className="row">
          {state === 'running' && (
            <Button icon={X} onClick={promotion.cancel}>
              Cancel
            </Button>
          )}
          {(state === 'failed' || state === 'cut') && (
            <>
              <Button icon={RotateCw} kind="primary" onClick={promotion.retry}>
                {state === 'failed' ? 'Try again' : promotion.is_given_up ? 'Undo' : 'Resume'}
              </Button>
              {!promotion.is_given_up && (
                <Button icon={X} onClick={promotion.cancel}>
                  Undo changes
                </Button>
              )}
            </>
          )}
          {state === 'done' && (
            <>
              <Button
                kind="primary"
                onClick={() => {
                  remove(promotion.key)
                  navigate(`~${instanceBasePath(to.id)}/projects/${to.slug}/deployments/${encodeURIComponent(deployment_id ?? '')}`)
                }}
              >
                View build
              </Button>
              <Button icon={X} onClick={() => remove(promotion.key)}>
                Dismiss
              </Button>
            </>
          )}
        </div>
      </header>
      <ol className={styles.promotionSteps} aria-label="Steps">
        {steps.map((step) => (
          <li key={step.name}>
            <StatusIcon badge={stepStateBadges[step.state]} size={11} />
            <span>{promotionStepLabels[step.name]}</span>
            <span className="text-subtle">{step.note || stepStateBadges[step.state].label.toLowerCase()}</span>
          </li>
        ))}
      </ol>
      {state === 'undoing' && <Progress label={`Undoing changes on ${to.name}`} />}
      {running && state === 'running' && (
        <Progress
          label={runningStepLabel(running.name, to.name)}
          {...(transfer && transfer.total > 0 && transfer.sent < transfer.total ? { value: transfer.sent / transfer.total } : {})}
          {...(transfer ? { text: transfer.total > 0 ? formatTransfer(transfer) : `${formatBytes(transfer.sent)} so far` } : {})}
        />
      )}
      {state === 'cut' && (
        <p role="status">
          {promotion.is_given_up
            ? `The page was closed while changes on ${to.name} were being undone.`
            : `The page was closed while this was in progress. ${completedSummary(done)}Resume, or undo the changes on ${to.name}.`}
        </p>
      )}
      {state === 'done' && <p role="status">{`Done. ${to.slug} is being built on ${to.name}.`}</p>}
      {state === 'done' && <PromotionReport lines={promotion.report} />}
      {problem && (
        <>
          <p>
            {failed ? `${promotionStepLabels[failed.name]}: failed. ` : `Could not undo the changes on ${to.name}. `}
            {completedSummary(done)}
            {failed && 'Try again to continue from here, or undo the changes.'}
          </p>
          <ProblemView problem={problem} />
        </>
      )}
    </section>
  )
}

const outcomes = ['not_copied', 'kept', 'copied'] as const

/** The report of a promotion; entries that need attention come first. */
function PromotionReport({ lines }: { lines: PromotionReportLine[] }) {
  return outcomes.map((outcome) => {
    const own = lines.filter((line) => line.outcome === outcome)
    if (own.length === 0) return null
    return (
      <section key={outcome} className={styles.report} aria-label={reportOutcomeLabels[outcome]}>
        <h3>{reportOutcomeLabels[outcome]}</h3>
        <ul>
          {own.map(({ item, note }) => (
            <li key={item}>
              <span>{item}</span> <span className="text-subtle">{note}</span>
            </li>
          ))}
        </ul>
      </section>
    )
  })
}

const stepStateBadges: Record<Promotion['steps'][number]['state'], StatusBadgeData> = {
  waiting: stepBadge('pending'),
  running: stepBadge('running'),
  done: stepBadge('done'),
  failed: stepBadge('failed'),
}

const promotionStepLabels: Record<PromotionStepName, string> = {
  source: 'Source',
  project: 'Project',
  services: 'Services',
  volumes: 'Volumes',
  database: 'Database',
  variables: 'Variables',
  upload: 'Upload',
  deploy: 'Deploy',
  data: 'Data of services',
}

function runningStepLabel(name: PromotionStepName, to: string): string {
  return {
    source: 'Fetching the source',
    project: `Preparing the project on ${to}`,
    services: `Adding services on ${to}`,
    volumes: `Copying volumes to ${to}`,
    database: `Copying the database to ${to}`,
    variables: `Sending the variables to ${to}`,
    upload: `Uploading to ${to}`,
    deploy: `Deploying on ${to}`,
    data: `Waiting for the deployment on ${to}, then copying data`,
  }[name]
}

function completedSummary(done: Promotion['steps']): string {
  return done.length === 0 ? '' : `Completed: ${done.map(({ name, note }) => completedStepLabel(name, note)).join(', ')}. `
}

function completedStepLabel(name: PromotionStepName, note: string): string {
  if (name === 'source') return 'source fetched'
  return note === '' ? promotionStepLabels[name].toLowerCase() : `${promotionStepLabels[name].toLowerCase()} (${note})`
}
