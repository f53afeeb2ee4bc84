import { X } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { Link } from 'wouter'
import { useCachedDatabase } from '../../api/databases.ts'
import { useProject } from '../../api/projects.ts'
import { useDeployments } from '../../api/deployments.ts'
import { useEnvVars } from '../../api/env-vars.ts'
import { useInstanceSession, useSettings } from '../../api/instance.ts'
import { usePreviews } from '../../api/previews.ts'
import { useCapabilities } from '../../api/capabilities.ts'
import { useUi } from '../../stores/ui.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { StatusIcon } from '../../components/status.tsx'
import { KeyCaps } from '../../components/key-caps.tsx'
import { useInitialLoading } from '../../lib/use-initial-loading.ts'
import { useAppUrl } from '../../api/app-url.ts'
import { type TourStep, buildTourSteps } from './tour-steps.ts'
import { useTour } from '../../stores/tour.ts'
import styles from './tour-card.module.css'

/** An onboarding checklist that completes automatically. */
export default function TourCard({ slug }: { slug: string }) {
  const done = useTour((state) => state.done)
  const { close, complete } = useTour.getState()
  const { steps, isLoading } = useSteps(slug, done)
  const completed = steps.filter((step) => step.is_done)
  const isComplete = completed.length === steps.length
  const ids = completed.map(({ id }) => id).join(' ')
  useEffect(() => complete(ids.split(' ').filter(Boolean)), [ids, complete])
  const card = useRef<HTMLElement>(null)
  useEffect(() => {
    if (isLoading || !useTour.getState().should_scroll_into_view) return
    useTour.getState().markSeen()
    card.current?.scrollIntoView({ block: 'nearest' })
  }, [isLoading])
  // Until all facts are known, the count would start at zero.
  if (isLoading) return null
  return (
    <section ref={card} className={`card ${styles.tour}`} aria-labelledby="first-steps">
      <header className={styles.tourHead}>
        <h2 id="first-steps">First steps</h2>
        <span className={styles.tourCount}>
          {completed.length} of {steps.length}
        </span>
        <IconButton icon={X} label="Close first steps" onClick={close} />
      </header>
      <ol className={styles.tourSteps}>
        {steps.map((step) => (
          <li key={step.id} className={step.is_done ? `${styles.tourStep} ${styles.tourDone}` : styles.tourStep}>
            <StatusIcon
              badge={{ label: '', shape: step.is_done ? 'disc' : 'ring', tone: step.is_done ? 'live' : 'idle' }}
              label={step.is_done ? 'Done' : 'To do'}
            />
            <div>
              <StepLink step={step} />
              <p className="text-muted">
                {step.description} {step.id === 'palette' && <KeyCaps keys="mod+k" />}
              </p>
            </div>
          </li>
        ))}
      </ol>
      <p className={`${styles.tourFoot} text-muted`}>
        {isComplete ? (
          <>
            All done. <Button onClick={close}>Close</Button>
          </>
        ) : (
          <>
            Steps complete automatically. Learn more in <Link href="/help">Help</Link>
          </>
        )}
      </p>
    </section>
  )
}

function StepLink({ step: { title, to } }: { step: TourStep }) {
  const setPaletteOpen = useUi((state) => state.setPaletteOpen)
  if (to === 'palette')
    return (
      <button type="button" className={styles.tourLink} onClick={() => setPaletteOpen(true)}>
        {title}
      </button>
    )
  if (!to.startsWith('/'))
    return (
      <a className={styles.tourLink} href={to} target="_blank" rel="noreferrer noopener">
        {title}
      </a>
    )
  return (
    <Link className={styles.tourLink} href={to}>
      {title}
    </Link>
  )
}

function useSteps(slug: string, done: readonly string[]): { steps: TourStep[]; isLoading: boolean } {
  const address = useAppUrl(slug)
  const isOwner = useInstanceSession().data?.user.is_instance_owner ?? false
  const mayOpen = useCapabilities().has_instance_api && isOwner
  const project = useProject(slug, !done.includes('open'))
  const ready = useDeployments(slug, { status: 'ready' })
  const variables = useEnvVars(slug)
  const { data: database } = useCachedDatabase(slug)
  const previews = usePreviews(slug)
  const settings = useSettings(mayOpen)
  const isLoading = useInitialLoading([project, ready, variables, previews, settings])
  const steps = buildTourSteps(
    {
      slug,
      address,
      was_visited: Boolean(project.data?.last_request_at),
      ready_deployments: ready.data?.pages[0]?.deployments.length ?? 0,
      variables: variables.data?.length ?? 0,
      has_preview: (previews.data?.length ?? 0) > 0,
      has_database: Boolean(database),
      is_network_open: mayOpen ? (settings.data?.lan ?? false) : null,
    },
    done,
  )
  return { steps, isLoading }
}
