import { problemFrom } from '../../api/problem.ts'
import { useDoctor } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { HelpLink } from '../help/help-link.tsx'
import { StatusWord, checkSigns } from '../../ui/status.tsx'
import { RotateCw } from 'lucide-react'
import { checkName, withLocalTimes } from './check-words.ts'

/** What works, what does not, and how to fix it. */
export function Doctor() {
  const { data, error, isPending, isFetching, refetch } = useDoctor()
  return (
    <section className="card" aria-labelledby="doctor">
      <header className="card-head">
        <h2 id="doctor">Health</h2>
        <Button icon={RotateCw} busy={isFetching} onClick={() => void refetch()}>
          Check again
        </Button>
      </header>
      {error && (
        <div className="card-body">
          <ProblemView problem={problemFrom(error)} />
        </div>
      )}
      {isPending && <SkeletonRows rows={4} height={52} />}
      <ul>
        {data?.map((check) => (
          <li key={check.name} className="check">
            <StatusWord sign={checkSigns[check.status]} />
            <div>
              <p>
                <strong>{checkName(check.name)}</strong> <span className="quiet">{withLocalTimes(check.message)}</span>
              </p>
              {check.mend && <p>{withLocalTimes(check.mend)}</p>}
              {check.status !== 'ok' && <HelpLink topic={check.help} />}
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}
