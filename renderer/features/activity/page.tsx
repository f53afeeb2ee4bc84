import { useTitle } from '../../lib/use-title.ts'
import { ActivityView } from './activity-view.tsx'

export default function ActivityPage() {
  useTitle('Activity')
  return (
    <div className="page">
      <div className="page-header">
        <h1>Activity</h1>
      </div>
      <ActivityView />
    </div>
  )
}
