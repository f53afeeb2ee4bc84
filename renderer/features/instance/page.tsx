import { useInstance, useSettings, useUsers } from '../../api/queries.ts'
import { problemFrom } from '../../api/problem.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { Empty, ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { useTogether } from '../../ui/together.ts'
import { Anchor } from 'lucide-react'
import { useTitle } from '../frame/title.ts'
import { EngineReport } from '../welcome/engine-report.tsx'
import { Doctor } from './doctor.tsx'
import { InstanceHead } from './instance-head.tsx'
import { InstanceSettings } from './instance-settings.tsx'
import { People } from './people.tsx'
import { Recovered } from './recovered.tsx'
import './page.css'

/** The instance itself: what it runs on, where it answers, who is on it, what ails it. */
export default function InstancePage() {
  useTitle('Instance')
  const session = useInstance()
  const { data, error, isPending, refetch } = session
  const isOwner = data?.user.is_instance_owner ?? false
  const isComing = useTogether([session, useSettings(isOwner), useUsers(isOwner)])
  if (error) {
    return (
      <div className="page">
        <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />
      </div>
    )
  }
  // Settings and people are drawn with the rest; what ails it takes longer to find out, and stands last.
  if (isPending || isComing) {
    return (
      <div className="page">
        <InstanceHead />
        <SkeletonRows rows={6} height={80} />
      </div>
    )
  }
  if (data === null) {
    return (
      <div className="page">
        <Empty isPage icon={Anchor} title="This instance does not tell about itself">
          It speaks the API, but it is no Homeport that one could look after from here.
        </Empty>
      </div>
    )
  }
  const { instance, user, account } = data
  return (
    <div className="page instance">
      <InstanceHead />
      <Recovered />
      <div className="instance-columns">
        <div className="card card-body stack">
          <h2>Runtime</h2>
          <EngineReport />
          <p className="faint">
            Secrets are encrypted with a master key that lies{' '}
            {instance.encryption === 'keychain' ? 'in the keychain of this machine' : 'in a file of the data folder'}.
          </p>
        </div>
        <section className="card" aria-labelledby="addresses">
          <header className="card-head">
            <h2 id="addresses">Addresses</h2>
          </header>
          <dl className="addresses">
            <Address name="API" url={instance.api_url} />
            <Address name="Apps" url={instance.edge_url} />
            {instance.edge_https_url && <Address name="Apps, HTTPS" url={instance.edge_https_url} />}
            <Address name="Dashboard" url={instance.dashboard_url} />
          </dl>
        </section>
      </div>
      {user.is_instance_owner ? (
        <>
          <InstanceSettings />
          <People />
          <Doctor />
        </>
      ) : (
        <section className="card card-body">
          <h2>Your account</h2>
          <p className="quiet">
            {user.email}, plan {account.plan}. Settings and people are the owner’s business.
          </p>
        </section>
      )}
    </div>
  )
}

function Address({ name, url }: { name: string; url: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <span className="mono clip">{url}</span>
        <CopyButton text={url} label={`Copy the address: ${name}`} />
      </dd>
    </div>
  )
}
