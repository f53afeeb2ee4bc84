import { Compass } from 'lucide-react'
import { Link } from 'wouter'
import { EmptyState } from '../../components/feedback.tsx'
import { useTitle } from './use-title.ts'

function NotFoundLinks() {
  return (
    <p>
      <Link href="/">To the projects</Link> · <Link href="/help">Help</Link>
    </p>
  )
}

/** `isPage`: not below the heading of something that is there. */
export function NotFound({ isPage = true }: { isPage?: boolean }) {
  useTitle('Not found')
  return (
    <div className={isPage ? 'page' : undefined}>
      <div className="card">
        <EmptyState isPage={isPage} icon={Compass} title="There is nothing at this address" action={<NotFoundLinks />}>
          The link may be old, or what it led to was deleted.
        </EmptyState>
      </div>
    </div>
  )
}
