import { useTitle } from '../../lib/use-title.ts'
import { NotificationSections } from './sections.tsx'

/** Notifications about all projects of the account, and about the instance. */
export default function AccountNotificationsPage() {
  useTitle('Notifications')
  return (
    <div className="page">
      <header className="page-header">
        <h1>Notifications</h1>
        <p className="text-muted">About all projects of your account. The settings of a project have targets for that project alone.</p>
      </header>
      <NotificationSections slug={null} />
    </div>
  )
}
