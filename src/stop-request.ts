/** Nothing but a word for it, whoever it is meant for. */
export function isStopRequest(text: string): boolean {
  return STOP.test(text);
}

const STOP =
  /^\s*(?:@[\w.-]+[\s,:]+)?(?:please[\s,]+)?(?:stop|cancel|abort)(?:[\s,]+(?:it|this|that|now|please|the analysis))*[\s.!]*$/i;
