import { Compass } from 'lucide-react'
import { Link } from 'wouter'
import { EmptyState } from './feedback.tsx'
import { useTitle } from '../lib/use-title.ts'

function NotFoundLinks() {
  return (
    <p>
      <Link href="/">Go to projects</Link> · <Link href="/help">Help</Link>
    </p>
  )
}

/** `isPage`: the message is the whole page and has the page heading. */
export function NotFound({ isPage = true }: { isPage?: boolean }) {
  useTitle('Not found')
  return (
    <div className={isPage ? 'page' : undefined}>
      <div className="card">
        <EmptyState isPage={isPage} icon={Compass} title="Page not found" action={<NotFoundLinks />}>
          The link may be outdated, or the page was deleted.
        </EmptyState>
      </div>
    </div>
  )
}
