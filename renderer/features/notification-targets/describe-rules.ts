import { notificationRuleLabels } from '../../../server/contract/labels.ts'
import type { NotificationRules } from '../../../server/contract/notifications.ts'

/** The rules that are on, in words. */
export function describeRules(rules: NotificationRules): string {
  const names = (Object.keys(notificationRuleLabels) as (keyof NotificationRules)[])
    .filter((name) => rules[name])
    .map((name) =>
      name === 'error_rate' && rules.error_rate
        ? `Error rate above ${rules.error_rate.percent} % for ${rules.error_rate.minutes} min`
        : notificationRuleLabels[name],
    )
  return names.length === 0 ? 'No events' : names.join(', ')
}
