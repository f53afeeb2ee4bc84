import { useTitle } from '../../lib/use-title.ts'
import { DomainsView } from './domains-view.tsx'

/** Domains of all projects. */
export default function AllDomainsPage() {
  useTitle('Domains')
  return (
    <div className="page">
      <header className="page-header">
        <h1>Domains</h1>
      </header>
      <DomainsView slug={null} />
    </div>
  )
}
