"""The roles that a column of a survey can have, and the names by which loggers call it."""

_OTHER_NAMES = {
    "x": "east easting pos_x position_x local_x",
    "y": "north northing pos_y position_y local_y",
    "latitude": "lat gps_lat gps_latitude gpslat drone_lat",
    "longitude": "lon lng long gps_lon gps_lng gps_longitude gpslon drone_lon",
    "value": (
        "reading measurement concentration conc ppm ppb gas methane ch4 co2 co so2 no2 h2s nh3 voc "
        "counts count cps kcps cpm count_rate countrate dose_rate doserate rssi dbm signal "
        "signal_strength level db dba spl sound_level laeq tmi nt total_field mag anomaly "
        "magnetic_anomaly"
    ),
    "altitude": (
        "alt altitude_agl alt_agl agl altitude_ato alt_ato height height_agl rel_alt relative_altitude z"
    ),
    "time": (
        "timestamp datetime date_time time_utc utc_time utc gps_time unix_time epoch t seconds "
        "elapsed elapsed_time time_since_start time_local local_time"
    ),
    "date": "day",
    "wind_u": "u u_wind wind_x wind_east wind_e",
    "wind_v": "v v_wind wind_y wind_north wind_n",
    "wind_speed": "windspeed ws wspd wind_spd wind_velocity",
    "wind_from": (
        "winddir wind_dir wind_direction winddirection wd wdir wind_direction_from "
        "wind_from_direction wind_dir_from"
    ),
    "dwell": "dwell_time integration_time live_time livetime exposure duration",
    "sensor": "sensor_id sensor_name instrument inst device device_id node",
}
NAMES: dict[str, tuple[str, ...]] = {role: (role, *names.split()) for role, names in _OTHER_NAMES.items()}
"""By role; its own name comes first, and wins over the others where a file has both."""
