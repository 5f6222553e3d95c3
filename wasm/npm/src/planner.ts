import * as glue from './glue/evenkeel.js';
import { Border } from './border.js';
import { plannerOnDemand } from './on-demand.js';

export { glue };
export const planner = new Border(glue, plannerOnDemand);
