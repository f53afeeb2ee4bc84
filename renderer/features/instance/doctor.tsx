import { useDoctor } from '../../api/instance.ts'
import { toApiError } from '../../lib/api-error.ts'
import { Button } from '../../components/button.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { StatusText, checkBadges } from '../../components/status.tsx'
import { RotateCw } from 'lucide-react'
import { localizeTimes, mergeChecks } from './check-labels.ts'
import styles from './page.module.css'

/** Health checks with their fixes. */
export function Doctor() {
  const { data, error, isPending, isFetching, refetch } = useDoctor()
  return (
    <section className="card" aria-labelledby="doctor">
      <header className="card-header">
        <h2 id="doctor">Health</h2>
        <Button icon={RotateCw} busy={isFetching} onClick={() => void refetch()}>
          Check again
        </Button>
      </header>
      {error && (
        <div className="card-body">
          <ProblemView problem={toApiError(error)} />
        </div>
      )}
      {isPending && <SkeletonRows rows={4} height={52} />}
      <ul>
        {mergeChecks(data ?? []).map(({ check, labels }) => (
          <li key={check.name} className={styles.check} data-testid="check">
            <StatusText badge={checkBadges[check.status]} />
            <div>
              <p>
                <strong>{labels.length > 3 ? `${labels.slice(0, 2).join(', ')} and ${labels.length - 2} more` : labels.join(', ')}</strong>{' '}
                <span className="text-muted">{localizeTimes(check.message)}</span>
              </p>
              {check.hint && <p>{localizeTimes(check.hint)}</p>}
              {check.status !== 'ok' && <HelpLink topic={check.help} />}
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}
