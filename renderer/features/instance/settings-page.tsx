import { useInstanceSession, useSettings } from '../../api/instance.ts'
import { useUsers } from '../../api/users.ts'
import { SkeletonRows } from '../../components/feedback.tsx'
import { useInitialLoading } from '../../lib/use-initial-loading.ts'
import { useTitle } from '../../lib/use-title.ts'
import { InstanceSettings } from './instance-settings.tsx'
import { OwnerPage } from './owner-page.tsx'
import { People } from './people.tsx'

/** Settings of the instance, and the people who use it. */
export default function InstanceSettingsPage() {
  useTitle('Instance settings')
  const session = useInstanceSession()
  const isOwner = session.data?.user.is_instance_owner ?? false
  const isLoading = useInitialLoading([session, useSettings(isOwner), useUsers(isOwner)])
  return (
    <OwnerPage deniedMessage="Only the instance owner can change settings.">
      {isLoading ? (
        <SkeletonRows rows={6} height={64} />
      ) : (
        <>
          <InstanceSettings />
          <People />
        </>
      )}
    </OwnerPage>
  )
}
