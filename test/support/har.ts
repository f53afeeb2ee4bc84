import { z } from 'zod'

const pairs = z.array(z.object({ name: z.string(), value: z.string() }))
const message = { httpVersion: z.string(), cookies: pairs, headers: pairs, headersSize: z.number(), bodySize: z.number() }
const duration = z.number().min(0)

/** The fields that HAR 1.2 requires; others are refused. */
export const har = z.strictObject({
  log: z.strictObject({
    version: z.literal('1.2'),
    creator: z.strictObject({ name: z.string(), version: z.string() }),
    entries: z.array(
      z.strictObject({
        startedDateTime: z.iso.datetime(),
        time: duration,
        request: z.strictObject({
          method: z.string(),
          url: z.url(),
          queryString: pairs,
          postData: z.strictObject({ mimeType: z.string(), text: z.string(), comment: z.string().optional() }).optional(),
          ...message,
        }),
        response: z.strictObject({
          status: z.number().int(),
          statusText: z.string(),
          redirectURL: z.string(),
          content: z.strictObject({
            size: z.number(),
            mimeType: z.string(),
            text: z.string().optional(),
            encoding: z.literal('base64').optional(),
            comment: z.string().optional(),
          }),
          ...message,
        }),
        cache: z.strictObject({}),
        timings: z.strictObject({ blocked: duration, send: duration, wait: duration, receive: duration }),
        comment: z.string(),
      }),
    ),
  }),
})
