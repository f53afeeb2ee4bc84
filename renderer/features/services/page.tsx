import { Layers } from 'lucide-react'
import { Link, useSearchParams } from 'wouter'
import { usePreviews } from '../../api/previews.ts'
import { useProject } from '../../api/projects.ts'
import { useServices } from '../../api/services.ts'
import { EnvironmentSelect } from '../../components/environment-select.tsx'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { toApiError } from '../../lib/api-error.ts'
import { useTitle } from '../../lib/use-title.ts'
import { AutoscalingSection } from './autoscaling.tsx'
import { CronRuns } from './cron-runs.tsx'
import { ManagedServices } from './managed-services.tsx'
import { ServiceRow } from './service-row.tsx'
import styles from './services.module.css'

/** The services of a project other than the app, including scheduled ones. */
export default function ServicesPage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  useTitle(`Services · ${project?.name ?? slug}`)
  const [params, setParams] = useSearchParams()
  const branch = params.get('branch')
  const { data: previews } = usePreviews(slug)
  const { data, error, refetch } = useServices(slug, branch)
  if (error && !data) return <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />
  if (data === undefined) return <SkeletonRows rows={3} height={72} />
  const services = data?.services ?? []
  const cronServices = branch === null ? services.filter(({ kind }) => kind === 'cron') : []
  const range = services.find(({ is_main }) => is_main)?.autoscaling
  return (
    <div className="stack">
      <EnvironmentSelect
        branch={branch}
        previews={previews}
        className={styles.environment}
        onChange={(next) => setParams(next === null ? {} : { branch: next }, { replace: true })}
      />
      <section className="card" aria-labelledby="services">
        <header className="card-header">
          <h2 id="services">Services</h2>
        </header>
        {services.length === 0 ? (
          <EmptyState icon={Layers} title="This project is one app" action={<Link href="/help/services">Add workers, cron jobs and images</Link>}>
            List more services in homeport.yaml, compose.yaml or a Procfile, then deploy again.
          </EmptyState>
        ) : (
          <ul data-rows>
            {services.map((service) => (
              <ServiceRow key={service.name} slug={slug} branch={branch} service={service} />
            ))}
          </ul>
        )}
        {data?.release_command && (
          <p className={`card-body text-subtle ${styles.release}`}>
            Before a new version gets traffic: <code>{data.release_command}</code>
          </p>
        )}
      </section>
      {range && <AutoscalingSection slug={slug} range={range} />}
      <ManagedServices slug={slug} />
      {cronServices.map(({ name }) => (
        <CronRuns key={name} slug={slug} name={name} />
      ))}
    </div>
  )
}
