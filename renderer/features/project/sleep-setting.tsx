import { Link } from 'wouter'
import { useInstanceSession, useSettings } from '../../api/instance.ts'
import { useUpdateProject } from '../../api/projects.ts'
import { planLabels } from '../../../server/contract/labels.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { SwitchField } from '../../components/field.tsx'
import { formatSeconds } from '../../lib/format.ts'
import { RelativeTime } from '../../components/time.tsx'
import { Fact } from './fact.tsx'
import styles from './overview.module.css'

/** Sleep state of the app and the switch that keeps it always warm. */
export function SleepSetting({ project }: { project: Project }) {
  const instance = useInstanceSession().data
  const { data: settings } = useSettings(instance?.user.is_instance_owner ?? false)
  const change = useUpdateProject({ hidesErrorToast: true })
  // The delay is an instance setting that only the owner can read.
  const sleepDelay = settings ? formatSeconds(settings.sleep_after_s) : 'a while'
  const isAlwaysWarm = change.isPending ? (change.variables.body.always_warm ?? project.always_warm) : project.always_warm
  const frozenFor_s = settings?.frozen_for_s ?? 0
  // A static site has no process that could sleep.
  if (project.status === 'live' && project.port === null && !project.is_cold)
    return <Fact name="When idle">Never sleeps: a static site without a process</Fact>
  const isRefused = change.error?.code === 'paid_plan_required'
  return (
    <Fact name="When idle">
      {isAlwaysWarm ? (
        'Stays awake, so the first request is never slow.'
      ) : project.is_cold ? (
        <>
          Asleep
          {project.last_request_at && (
            <>
              ; last request <RelativeTime at={project.last_request_at} />
            </>
          )}
          . The next request wakes it.{' '}
          {frozenFor_s > 0 &&
            `It stays frozen in memory for ${formatSeconds(frozenFor_s)} and wakes instantly; after that it is stopped and starts on request.`}
        </>
      ) : (
        `Sleeps after ${sleepDelay} without a request and wakes with the next one.`
      )}
      <div className={styles.factSwitch}>
        <SwitchField
          label="Always warm"
          error={change.error?.message}
          checked={isAlwaysWarm}
          onChange={(always_warm) => change.mutate({ params: { slug: project.slug }, body: { always_warm } })}
        />
        {isRefused && instance?.user.is_instance_owner && (
          <p className="field-hint">
            Simulating the {planLabels[instance.account.plan]} plan. Change it in the <Link href="/instance/settings">instance settings</Link>.
          </p>
        )}
      </div>
    </Fact>
  )
}
