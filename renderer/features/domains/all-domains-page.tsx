import { useTitle } from '../layout/use-title.ts'
import { DomainsView } from './domains-view.tsx'

/** The names of every project. */
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
