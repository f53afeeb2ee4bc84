import { useTitle } from '../frame/title.ts'
import { DomainsView } from './domains-view.tsx'

/** The names of every project. */
export default function EveryDomainPage() {
  useTitle('Domains')
  return (
    <div className="page">
      <header className="page-head">
        <h1>Domains</h1>
      </header>
      <DomainsView slug={null} />
    </div>
  )
}
