/** `user`: a person in the dashboard or on this machine's command line. `push`: a commit or a webhook. `schedule`: a job that ran at its time. */
export const activityActors = ['user', 'token', 'push', 'schedule', 'system'] as const
export type ActivityActor = (typeof activityActors)[number]
