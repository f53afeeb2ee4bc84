import { CircleAlert, Plus } from 'lucide-react'
import { Link } from 'wouter'
import type { Failure } from '../../../server/contract/deployments.ts'
import { Button } from '../../ui/button.tsx'
import { helpForFailure } from '../help/help-for.ts'
import { HelpLink } from '../help/help-link.tsx'
import { Prose } from '../../ui/prose.tsx'
import type { LogLine } from '../logs/log-store.ts'
import { plainText } from '../logs/terminal-line.ts'

/** Why it failed, what to do, and the line where it went wrong, before anything else. */
export function FailureReport({
  slug,
  failure,
  fault,
  onShow,
}: {
  slug: string
  failure: Failure
  fault: { line: LogLine; around: LogLine[] } | null
  onShow: (() => void) | undefined
}) {
  const missing = /variable is missing: (\w+)/.exec(failure.message)?.[1]
  return (
    <section className="failure" aria-labelledby="failure">
      <CircleAlert size={19} aria-hidden />
      <div className="failure-body">
        <h2 id="failure">
          <Prose text={failure.message} />
        </h2>
        <p>
          <Prose text={fault ? (failure.hint.split(' Its last output:\n')[0] ?? '') : failure.hint} />
        </p>
        {fault && (
          <figure className="failure-lines" aria-label="Where it went wrong">
            {fault.around.map((line) => (
              <div key={line.number} className={line === fault.line ? 'failure-line' : 'failure-near'}>
                <span className="failure-number">{line.number}</span>
                <code>{plainText(line.text).slice(0, 400)}</code>
              </div>
            ))}
          </figure>
        )}
        <p className="failure-foot">
          {missing && (
            <Link href={`/projects/${slug}/environment?do=add&key=${missing}`} className="button button-plain">
              <Plus size={15} aria-hidden /> Add {missing}
            </Link>
          )}
          <code>{failure.code}</code>
          <HelpLink topic={helpForFailure(failure)}>How to fix it</HelpLink>
          {onShow && (
            <Button kind="bare" onClick={onShow}>
              Show it in the log
            </Button>
          )}
        </p>
      </div>
    </section>
  )
}
