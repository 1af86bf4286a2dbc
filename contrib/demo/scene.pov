// The demo's scene: spheres that dance around a glass ball, by `clock` 0..1.
// Deterministic: nothing in it depends on which rows are rendered together.
#version 3.7;
global_settings { assumed_gamma 1.0 max_trace_level 8 }

#declare Turn = clock * 2 * pi;
#declare Mirror = finish { reflection 0.6 specular 0.9 roughness 0.004 diffuse 0.4 }

camera {
    location <0.7, 2.3, -7>
    look_at <0, 0.75, 0>
    angle 44
    right x * image_width / image_height
}
light_source { <6, 9, -7> color rgb <1, 0.96, 0.88> }
light_source { <-7, 5, -4> color rgb <0.20, 0.25, 0.40> shadowless }
sky_sphere {
    pigment {
        gradient y
        color_map {
            [0 rgb <0.95, 0.75, 0.55>]
            [0.25 rgb <0.45, 0.62, 0.90>]
            [1 rgb <0.05, 0.14, 0.42>]
        }
    }
}
plane {
    y, 0
    pigment { checker rgb <0.92, 0.90, 0.86>, rgb <0.16, 0.20, 0.28> scale 0.8 }
    finish { reflection 0.18 diffuse 0.75 }
}
#declare I = 0;
#while (I < 7)
    #declare Angle = Turn / 7 + I * 2 * pi / 7;
    sphere {
        <2.3 * cos(Angle), 0.55 + 0.5 * abs(sin(Turn + 2 * Angle)), 2.3 * sin(Angle)>, 0.5
        pigment { rgb <0.55 + 0.4 * cos(I), 0.5 + 0.4 * cos(I + 2.1), 0.55 + 0.4 * cos(I + 4.2)> }
        finish { Mirror }
    }
    #declare I = I + 1;
#end
sphere {
    <0, 1.15, 0>, 1.1
    pigment { rgbt <0.97, 0.99, 1, 0.96> }
    finish { reflection { 0.05, 0.9 fresnel } conserve_energy specular 0.9 roughness 0.002 }
    interior { ior 1.45 }
}
