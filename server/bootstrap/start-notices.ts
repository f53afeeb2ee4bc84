import { describeRecovery } from '../store/recovery.ts'
import type { PlatformContext } from './context.ts'
import type { PlatformLan } from './create-lan.ts'

/** What the user should know after this start, as sentences. */
export function getStartNotices({ store, urls, settings, options }: PlatformContext, lan: PlatformLan): string[] {
  const { open, warning } = lan.status()
  return [
    ...(store.recovery ? [describeRecovery(store.recovery)] : []),
    ...(urls.api_fell_back ? [`Port ${options.port} is in use, so the API is at ${urls.api} instead.`] : []),
    ...(open && settings.current().lan ? [`This instance is reachable from your local network. ${warning ?? ''}`] : []),
  ]
}
